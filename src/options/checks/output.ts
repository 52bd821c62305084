import { isObject } from "../../tools/values/predicates.ts";
import type { OutputDefinition, StandardSchema } from "../output.ts";
import { type Check, type Checks, checkedOptions, countOrNone, nested } from "./checks.ts";

const tag: Check = (value) =>
  typeof value === "string" && /^[A-Za-z][\w.-]*$/.test(value)
    ? undefined
    : "must be a tag name: a letter, then letters, digits, _, . and -";

const schema: Check = (value) =>
  // Some libraries' schemas are functions.
  (isObject(value) || typeof value === "function") && isObject(Reflect.get(value, "~standard"))
    ? undefined
    : "must be a Standard Schema, e.g. of Zod, Valibot or ArkType";

const OUTPUT: Checks<OutputDefinition> = { tag, schema, maxRetries: countOrNone };

/** The option `output`. */
export const output: Check = nested("output", OUTPUT, ["tag"]);

/**
 * Structured output: the agent writes it into a tag of its text, and `result.output` has the typed content of the last
 * such tag. Ask for the tag in the prompt: sanddune never adds anything to a prompt.
 *
 * @example
 * const { output } = await run({
 *   ...options,
 *   prompt: 'Review the diff. Answer with <review>{"approved": true or false}</review>.',
 *   output: Output.object({ tag: "review", schema: z.object({ approved: z.boolean() }) }),
 * });
 */
export const Output = {
  /** JSON that a schema validates. */
  object: <Value>(options: {
    readonly tag: string;
    readonly schema: StandardSchema<Value>;
    readonly maxRetries?: number;
  }): OutputDefinition<Value> => checkedOptions(options, OUTPUT, ["tag", "schema"]),
  /** The text in the tag, trimmed. */
  string: (options: { readonly tag: string; readonly maxRetries?: number }): OutputDefinition<string> =>
    checkedOptions(options, { tag, maxRetries: countOrNone }, ["tag"]),
};

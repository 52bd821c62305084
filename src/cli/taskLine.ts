import { parseJson } from "../scenarios/pages/jsonText.ts";
import { type LineProblem, TextProblem } from "../scenarios/pages/problem.ts";
import type { Schema } from "../scenarios/pages/schema.ts";
import { validate } from "../scenarios/pages/validate.ts";
import type { RunFlags } from "./runFlags.ts";

/** The flags that a task may have by itself, by the types of their values. */
const TEXTS = [
  ...["agent", "model", "agentCommand", "effort", "resumeSession", "sandbox", "imageName", "cwd"],
  ...["branch", "from", "prompt", "promptFile", "name", "outputTag", "environment", "isolation", "until"],
] as const;
const YES_OR_NO = ["mergeToHead", "head", "forkSession", "trajectory"] as const;
const NUMBERS = [
  ...["maxIterations", "maxTokens", "maxCostUsd", "onRateLimit"],
  ...["idleTimeout", "completionTimeout", "copyTimeout", "promptExpansionTimeout"],
] as const;
const LISTS = ["completionSignal", "copy", "env", "artifact"] as const;

const schemaOf = (keys: readonly string[], schema: Schema) =>
  Object.fromEntries(keys.map((key) => [key, schema]));

/** What a line of a task file can say. */
const TASK: Schema = {
  type: "object",
  additionalProperties: false,
  properties: {
    ...schemaOf(TEXTS, { type: "string", minLength: 1 }),
    promptArgs: { type: "object" },
    ...schemaOf(YES_OR_NO, { type: "boolean" }),
    ...schemaOf(NUMBERS, { type: "number" }),
    ...schemaOf(LISTS, { type: "array", items: { type: "string" } }),
  },
};

/** The values of a line. */
export interface TaskValues
  extends Pick<
    RunFlags,
    | "agent"
    | "model"
    | "agentCommand"
    | "effort"
    | "sandbox"
    | "imageName"
    | "branch"
    | "from"
    | "mergeToHead"
    | "head"
    | "prompt"
    | "promptFile"
    | "name"
    | "cwd"
  > {
  readonly promptArgs?: Readonly<Record<string, unknown>>;
  /** Seconds. */
  readonly onRateLimit?: number;
}

/** One task of the file. */
export interface TaskLine {
  /** Counted from 1. */
  readonly line: number;
  readonly values: TaskValues;
}

const readLine = (text: string, line: number): { values: TaskValues; problems: readonly LineProblem[] } => {
  try {
    const { node, problems } = parseJson(text, line);
    return { values: node.value as TaskValues, problems: [...problems, ...validate(node, TASK)] };
  } catch (error) {
    if (error instanceof TextProblem) return { values: {}, problems: [error] };
    throw error;
  }
};

/** Reads a text with a task on each line. Empty lines are none. */
export const readTaskLines = (
  text: string,
): { readonly tasks: readonly TaskLine[]; readonly problems: readonly LineProblem[] } => {
  const lines = text.replace(/^\ufeff/, "").split(/\r?\n/);
  const read = lines.flatMap((content, index) =>
    content.trim() === "" ? [] : [{ line: index + 1, ...readLine(content, index + 1) }],
  );
  return {
    tasks: read.map(({ line, values }) => ({ line, values })),
    problems: read.flatMap(({ problems }) => problems),
  };
};

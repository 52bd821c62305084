import { StructuredOutputError } from "../../errors.ts";
import type { OutputDefinition, StandardSchema, StandardSchemaIssue } from "../../options/output.ts";
import { redactData } from "../../redaction/redactData.ts";
import type { Redactor } from "../../redaction/redactor.ts";
import { MAX_TAG_LENGTH, type TagContent } from "./tagReader.ts";

const FENCED = /^```[^\n]*\n([\s\S]*)\n```$/;

const SCHEMA_THREW = "its schema threw";

/** Whether a correction could help. It cannot if the caller's schema threw. */
export const isAgentsMistake = ({ problem }: StructuredOutputError): boolean =>
  !problem.startsWith(SCHEMA_THREW);

const pathOf = ({ path = [] }: StandardSchemaIssue): string[] =>
  path.map((segment) => String(typeof segment === "object" ? segment.key : segment));

const parseJson = (tag: string, content: string, redactor: Redactor): unknown => {
  const json = FENCED.exec(content)?.[1] ?? content;
  try {
    return redactData(redactor, JSON.parse(json));
  } catch (cause) {
    throw new StructuredOutputError(tag, `it is not JSON (${(cause as Error).message})`, content, [], {
      cause,
    });
  }
};

const validate = async (
  tag: string,
  schema: StandardSchema,
  content: string,
  redactor: Redactor,
): Promise<unknown> => {
  const value = parseJson(tag, content, redactor);
  let result: Awaited<ReturnType<StandardSchema["~standard"]["validate"]>>;
  try {
    result = await schema["~standard"].validate(value);
  } catch (cause) {
    throw new StructuredOutputError(tag, `${SCHEMA_THREW} (${String(cause)})`, content, [], { cause });
  }
  if (result.issues === undefined) return result.value;
  const issues = result.issues.map((issue) => ({ message: issue.message, path: pathOf(issue) }));
  const told = issues.map(({ message, path }) =>
    path.length === 0 ? message : `${path.join(".")}: ${message}`,
  );
  throw new StructuredOutputError(
    tag,
    `it does not satisfy the schema (${told.join("; ")})`,
    content,
    issues,
  );
};

/** The text to read an output from. */
export interface SaidOutput {
  /** `undefined` if there is no such tag. */
  readonly found: TagContent | undefined;
  /** The end of the agent's text. */
  readonly agentText: string;
  readonly redactor: Redactor;
}

/** Reads the output from the agent's text. Rejects with a `StructuredOutputError` if it is missing or invalid. */
export const readOutput = async (
  { tag, schema }: OutputDefinition,
  { found, agentText, redactor }: SaidOutput,
): Promise<unknown> => {
  if (found === undefined) {
    throw new StructuredOutputError(tag, "the agent's text has no such tag", agentText);
  }
  if ("isTooLong" in found) {
    throw new StructuredOutputError(tag, `it is longer than ${MAX_TAG_LENGTH} characters`, agentText);
  }
  const trimmed = redactor.text(found.content.trim());
  return schema === undefined ? trimmed : validate(tag, schema, trimmed, redactor);
};

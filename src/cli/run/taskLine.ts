import taskSchema from "../../../schemas/task.schema.json" with { type: "json" };
import { parseJsonText } from "../../tools/json/jsonText.ts";
import type { Schema } from "../../tools/json/schema.ts";
import { type LineProblem, TextProblem } from "../../tools/json/textProblem.ts";
import { validate } from "../../tools/json/validate.ts";
import type { RunFlags } from "./runFlags.ts";

/** The schema of a line of a task file. */
const TASK: Schema = taskSchema;

/** Whether the key of a line has the library's name of the option. */
export const isTaskKey = (option: string): boolean => {
  const [root = ""] = option.split(".");
  const key = Object.hasOwn(TASK.properties ?? {}, root) ? TASK.properties?.[root] : undefined;
  return key !== undefined && (root === option || key.type === "object");
};

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
  readonly $schema?: string;
  readonly promptArgs?: Readonly<Record<string, unknown>>;
  readonly copyToWorktree?: readonly string[];
  readonly artifacts?: readonly string[];
  readonly onRateLimit?: { readonly waitUpToMs: number };
  readonly idleTimeoutSeconds?: number;
  readonly completionTimeoutMs?: number;
  readonly timeouts?: { readonly copyToWorktreeMs?: number; readonly promptExpansionMs?: number };
}

/** One task of the file. */
export interface TaskLine {
  /** Counted from 1. */
  readonly line: number;
  readonly values: TaskValues;
}

const readLine = (text: string, line: number): { values: TaskValues; problems: readonly LineProblem[] } => {
  try {
    const { node, problems } = parseJsonText(text, line);
    return { values: node.value as TaskValues, problems: [...problems, ...validate(node, TASK)] };
  } catch (error) {
    if (error instanceof TextProblem) return { values: {}, problems: [error] };
    throw error;
  }
};

/** Reads a text with a task on each line. Empty lines are skipped. */
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

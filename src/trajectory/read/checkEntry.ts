import type { TestResults } from "../../environment/contract.ts";
import { type Check, type Fields, isDate, optional, record } from "../../runs/journal/fieldChecks.ts";
import type { TrajectoryEntry } from "../record/file.ts";

/** An entry of a trajectory with its time. */
export type WrittenEntry = TrajectoryEntry & { readonly at: string };

const isText: Check = (value) => typeof value === "string";
const isFlag: Check = (value) => typeof value === "boolean";
const isAmount: Check = (value) => typeof value === "number" && Number.isFinite(value) && value >= 0;
const isCount: Check = (value) => Number.isSafeInteger(value) && (value as number) >= 0;
const isCommit: Check = (value) => isText(value) && /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(value as string);

const TEST = record({ path: isText, passed: isFlag, durationMs: isAmount, message: optional(isText) });

const RESULTS: Check = (value) =>
  record({ path: isText, passed: isCount, failed: isCount, total: isCount })(value) &&
  Array.isArray((value as TestResults).tests) &&
  (value as TestResults).tests.every(TEST) &&
  ((value as TestResults).error === null || isText((value as TestResults).error));

const USAGE = record({
  inputTokens: isAmount,
  cacheCreationInputTokens: isAmount,
  cacheReadInputTokens: isAmount,
  outputTokens: isAmount,
});

const PRICES = record({
  inputPerMillion: isAmount,
  outputPerMillion: isAmount,
  cacheCreationPerMillion: optional(isAmount),
  cacheReadPerMillion: optional(isAmount),
});

const EVENTS: Readonly<Record<string, Fields>> = {
  text: { text: isText },
  toolCall: { name: isText },
  toolResult: { output: isText, isError: optional(isFlag) },
  turnStart: {},
  usage: { usage: USAGE },
  sessionId: { sessionId: isText },
  error: { message: isText, willRetry: isFlag },
  result: { isError: isFlag, message: optional(isText) },
};

const isEvent: Check = (value) => {
  const { type } = (value ?? {}) as { type?: unknown };
  const fields = typeof type === "string" && Object.hasOwn(EVENTS, type) ? EVENTS[type] : undefined;
  return fields !== undefined && record(fields)(value);
};

const ENTRIES: Readonly<Record<TrajectoryEntry["type"], Fields>> = {
  begun: {
    runId: isText,
    agent: isText,
    model: optional(isText),
    prices: optional(PRICES),
    promptSha256: isText,
    base: isCommit,
  },
  agent: { version: isText },
  iteration: { iteration: isCount, promptSha256: isText, prompt: optional(isText) },
  event: { event: isEvent },
  action: {
    number: isCount,
    iteration: isCount,
    tool: optional(isText),
    input: isText,
    isError: optional(isFlag),
    isUnfinished: optional(isFlag),
  },
  checkpoint: {
    number: isCount,
    from: isCount,
    iteration: isCount,
    sha: isCommit,
    isIncomplete: optional(isFlag),
  },
  unchanged: { number: isCount, from: isCount },
  tests: { iteration: isCount, action: isCount, commit: isCommit, results: RESULTS },
  artifact: { path: isText, bytes: isCount },
  ended: { state: (value) => ["succeeded", "unsolved", "failed", "aborted"].includes(value as string) },
};

/** What a line of a trajectory says; `undefined` if no run writes such a line. A repository may come with anything. */
export const checkEntry = (value: unknown): WrittenEntry | undefined => {
  if (!record({ at: isDate, type: isText })(value)) return undefined;
  const { type } = value as WrittenEntry;
  return Object.hasOwn(ENTRIES, type) && record(ENTRIES[type])(value) ? (value as WrittenEntry) : undefined;
};

/** What tests of an environment came to, on one commit. */
export interface Evaluation {
  readonly at: string;
  /** Tells environments apart: the folder, as it was named. */
  readonly environment: string;
  readonly commit: string;
  readonly results: TestResults;
}

const EVALUATION = record({ at: isDate, environment: isText, commit: isCommit, results: RESULTS });

export const checkEvaluation = (value: unknown): Evaluation | undefined =>
  EVALUATION(value) ? (value as Evaluation) : undefined;

import type { TestResults } from "../../environment/contract.ts";
import { isObjectName } from "../../git/objectName.ts";
import { isUsage } from "../../options/usage.ts";
import {
  type Fields,
  isAmount,
  isCount,
  isDate,
  isFlag,
  isText,
  listOf,
  objectWith,
  oneOf,
  optional,
  orNull,
  variantOf,
} from "../../tools/values/predicates.ts";
import type { TrajectoryEntry } from "../record/file.ts";

/** An entry of a trajectory with its time. */
export type WrittenEntry = TrajectoryEntry & { readonly at: string };

const TEST = objectWith({ path: isText, passed: isFlag, durationMs: isAmount, message: optional(isText) });

const RESULTS = objectWith({
  path: isText,
  passed: isCount,
  failed: isCount,
  total: isCount,
  tests: listOf(TEST),
  error: orNull(isText),
});

const PRICES = objectWith({
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
  usage: { usage: isUsage },
  sessionId: { sessionId: isText },
  error: { message: isText, willRetry: isFlag },
  result: { isError: isFlag, message: optional(isText) },
};

const isEvent = variantOf(EVENTS);

const ENTRIES: Readonly<Record<TrajectoryEntry["type"], Fields>> = {
  begun: {
    runId: isText,
    agent: isText,
    model: optional(isText),
    prices: optional(PRICES),
    promptSha256: isText,
    base: isObjectName,
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
    sha: isObjectName,
    isIncomplete: optional(isFlag),
  },
  unchanged: { number: isCount, from: isCount },
  tests: { iteration: isCount, action: isCount, commit: isObjectName, results: RESULTS },
  artifact: { path: isText, bytes: isCount },
  ended: { state: oneOf("succeeded", "unsolved", "failed", "aborted") },
};

const isDated = objectWith({ at: isDate });
const isEntry = variantOf(ENTRIES);

/** An entry of a trajectory; `undefined` if no run writes such a line. A cloned repository may contain any file. */
export const checkEntry = (value: unknown): WrittenEntry | undefined =>
  isDated(value) && isEntry(value) ? (value as WrittenEntry) : undefined;

/** The test results of an environment on one commit. */
export interface Evaluation {
  readonly at: string;
  /** The folder of the environment, as the user named it. */
  readonly environment: string;
  readonly commit: string;
  readonly results: TestResults;
}

const EVALUATION = objectWith({ at: isDate, environment: isText, commit: isObjectName, results: RESULTS });

export const checkEvaluation = (value: unknown): Evaluation | undefined =>
  EVALUATION(value) ? (value as Evaluation) : undefined;

import { isObjectName } from "../../git/objectName.ts";
import { isUsage } from "../../options/usage.ts";
import {
  type Fields,
  isAmount,
  isText as isAnyText,
  isDate,
  isFlag,
  listOf,
  objectWith,
  oneOf,
  optional,
  orNull,
  type Predicate,
  variantOf,
} from "../../tools/values/predicates.ts";
import type { JournalEntry } from "./entries.ts";

/** A journal entry with its time. */
export type WrittenEntry = JournalEntry & { readonly at: string };

const isText: Predicate = (value) => isAnyText(value) && !value.includes("\0");
const isPid: Predicate = (value) => Number.isInteger(value) && (value as number) > 0;

const THING: Fields = { what: isText, name: isText };

const ENTRIES: Readonly<Record<JournalEntry["type"], Fields>> = {
  begun: {
    runId: isText,
    kind: oneOf("run", "interactive", "sandbox", "worktree"),
    within: optional(isText),
    name: optional(isText),
    owner: objectWith({ pid: isPid, startTime: isText, bootId: isText, pidNamespace: isText, host: isText }),
    agent: optional(isText),
    sandbox: optional(isText),
    strategy: isText,
    sourceBranch: optional(isText),
    targetBranch: optional(isText),
    logFilePath: optional(isText),
    temporaryDirectory: optional(isText),
  },
  creating: { ...THING, isNew: optional(isFlag), isCopy: optional(isFlag) },
  created: THING,
  working: {
    checkout: isText,
    branch: optional(isText),
    tip: isObjectName,
    isIsolated: isFlag,
    nestedRepositories: listOf((entry) => listOf(isText)(entry) && (entry as unknown[]).length === 2),
  },
  placed: { ...THING, place: isText },
  removed: THING,
  kept: { ...THING, reason: isText },
  phase: { phase: isText, durationMs: isAmount },
  iteration: { iteration: isAmount, usage: optional(isUsage), commits: listOf(isText) },
  usage: { usage: isUsage },
  tests: { iteration: isAmount, passed: isAmount, failed: isAmount, total: isAmount, error: orNull(isText) },
  ended: {
    state: oneOf("succeeded", "unsolved", "failed", "aborted"),
    solved: optional(isFlag),
    problem: optional(isText),
  },
  recovered: { reason: optional(isText) },
  cleaned: {},
};

const isDated = objectWith({ at: isDate });
const isEntry = variantOf(ENTRIES);

/** The entry on a line of a journal; `undefined` if it is malformed. A cloned repository may contain any file. */
export const checkEntry = (value: unknown): WrittenEntry | undefined =>
  isDated(value) && isEntry(value) ? (value as WrittenEntry) : undefined;

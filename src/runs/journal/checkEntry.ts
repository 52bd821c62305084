import { type Check, type Fields, isDate, listOf, oneOf, optional, record } from "./fieldChecks.ts";
import type { JournalEntry } from "./journal.ts";

/** A journal entry with its time. */
export type WrittenEntry = JournalEntry & { readonly at: string };

const isText: Check = (value) => typeof value === "string" && !value.includes("\0");
const isTextOrNull: Check = (value) => value === null || isText(value);
const isCount: Check = (value) => typeof value === "number" && Number.isFinite(value) && value >= 0;
const isFlag: Check = (value) => typeof value === "boolean";
const isPid: Check = (value) => Number.isInteger(value) && (value as number) > 0;

const isObjectName: Check = (value) =>
  typeof value === "string" && /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(value);

const THING: Fields = { what: isText, name: isText };

const USAGE = record({
  inputTokens: isCount,
  cacheCreationInputTokens: isCount,
  cacheReadInputTokens: isCount,
  outputTokens: isCount,
});

const ENTRIES: Readonly<Record<JournalEntry["type"], Fields>> = {
  begun: {
    runId: isText,
    kind: oneOf("run", "interactive", "sandbox", "worktree"),
    within: optional(isText),
    name: optional(isText),
    owner: record({ pid: isPid, startTime: isText, bootId: isText, pidNamespace: isText, host: isText }),
    agent: optional(isText),
    sandbox: optional(isText),
    strategy: isText,
    sourceBranch: optional(isText),
    targetBranch: optional(isText),
    logFilePath: optional(isText),
    temporaryDirectory: optional(isText),
  },
  creating: { ...THING, isNew: optional(isFlag) },
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
  phase: { phase: isText, durationMs: isCount },
  iteration: { iteration: isCount, usage: optional(USAGE), commits: listOf(isText) },
  usage: { usage: USAGE },
  tests: { iteration: isCount, passed: isCount, failed: isCount, total: isCount, error: isTextOrNull },
  ended: {
    state: oneOf("succeeded", "unsolved", "failed", "aborted"),
    solved: optional(isFlag),
    problem: optional(isText),
  },
  recovered: { reason: optional(isText) },
  cleaned: {},
};

/** What a line of a journal says; `undefined` if no run writes such a line. A repository may come with anything. */
export const checkEntry = (value: unknown): WrittenEntry | undefined => {
  if (!record({ at: isDate, type: isText })(value)) return undefined;
  const { type } = value as WrittenEntry;
  return Object.hasOwn(ENTRIES, type) && record(ENTRIES[type])(value) ? (value as WrittenEntry) : undefined;
};

import type { TestResults } from "../../environment/contract.ts";
import type { TokenPrices } from "../../options/usage.ts";
import { type RecordedEvent, trajectoryPath } from "../record/file.ts";
import { checkEntry, type WrittenEntry } from "./checkEntry.ts";
import { readJsonLines } from "./jsonLines.ts";

type Entry<Type extends WrittenEntry["type"]> = Extract<WrittenEntry, { type: Type }>;

/** An action of the agent. */
export interface RecordedAction {
  /** Counts from 1, through all iterations. */
  readonly number: number;
  readonly iteration: number;
  readonly at: string;
  readonly tool: string | undefined;
  readonly input: string;
  readonly isError: boolean;
  readonly isUnfinished: boolean;
  /** The events since the previous action. */
  readonly events: readonly RecordedEvent[];
}

/** One turn of the agent. */
export interface RecordedIteration {
  readonly number: number;
  readonly begunAt: string;
  /** The time of its last event. */
  readonly endedAt: string;
  /** The prompt; older versions do not record it. */
  readonly prompt: string | undefined;
  /** The events after its last action. */
  readonly lastEvents: readonly RecordedEvent[];
}

/** A recorded run, as read from its file. */
export interface RecordedRun {
  readonly runId: string;
  readonly agent: string;
  /** As the agent's program prints it. */
  readonly agentVersion: string | undefined;
  readonly model: string | undefined;
  readonly prices: TokenPrices | undefined;
  readonly base: string;
  readonly begunAt: string;
  readonly endedAt: string | undefined;
  /** `undefined` while the run continues, and if it was killed. */
  readonly state: Entry<"ended">["state"] | undefined;
  readonly iterations: readonly RecordedIteration[];
  readonly actions: readonly RecordedAction[];
  readonly checkpoints: readonly Entry<"checkpoint">[];
  readonly unchanged: readonly Entry<"unchanged">[];
  readonly tests: readonly {
    readonly action: number;
    readonly commit: string;
    readonly results: TestResults;
  }[];
  readonly artifacts: readonly { readonly path: string; readonly bytes: number }[];
}

const ofType = <Type extends WrittenEntry["type"]>(entries: readonly WrittenEntry[], type: Type) =>
  entries.filter((entry): entry is Entry<Type> => entry.type === type);

/** Accepts only ascending numbers: a run writes no others. */
const inOrder = <T extends { readonly number: number }>(items: readonly T[]): T[] => {
  let last = -1;
  return items.filter(({ number }) => {
    const isNext = number > last;
    if (isNext) last = number;
    return isNext;
  });
};

/** Joins consecutive texts: some agents print a sentence in many pieces. */
const addEvent = (events: RecordedEvent[], event: RecordedEvent): void => {
  const last = events.at(-1);
  if (event.type === "text" && last?.type === "text" && event.iteration === last.iteration)
    events[events.length - 1] = { ...last, text: last.text + event.text };
  else events.push(event);
};

/** Assigns events to the action that they precede, and the remaining ones to the iteration. */
const actionsOf = (entries: readonly WrittenEntry[]) => {
  const actions: RecordedAction[] = [];
  const iterations: RecordedIteration[] = [];
  let events: RecordedEvent[] = [];
  for (const entry of entries) {
    const { at, type } = entry;
    const current = iterations.at(-1);
    if (type === "event") addEvent(events, entry.event);
    if (type === "action" && entry.number === actions.length + 1) {
      const { number, iteration, tool, input, isError = false, isUnfinished = false } = entry;
      actions.push({ at, number, iteration, tool, input, isError, isUnfinished, events });
      events = [];
    }
    if (type === "iteration") {
      const { iteration: number, prompt } = entry;
      events = [];
      iterations.push({ number, begunAt: at, endedAt: at, prompt, lastEvents: events });
    } else if (current !== undefined) {
      iterations[iterations.length - 1] = { ...current, endedAt: at, lastEvents: events };
    }
  }
  return { actions, iterations };
};

/** Reads the trajectory of a run; `undefined` if there is none. */
export const readTrajectory = (runDirectory: string): RecordedRun | undefined => {
  const entries = readJsonLines(trajectoryPath(runDirectory), checkEntry) ?? [];
  const [begun] = ofType(entries, "begun");
  if (begun === undefined) return undefined;
  const ended = ofType(entries, "ended").at(-1);
  return {
    runId: begun.runId,
    agent: begun.agent,
    agentVersion: ofType(entries, "agent").at(-1)?.version,
    model: begun.model,
    prices: begun.prices,
    base: begun.base,
    begunAt: begun.at,
    endedAt: ended?.at,
    state: ended?.state,
    ...actionsOf(entries),
    checkpoints: inOrder(ofType(entries, "checkpoint")),
    unchanged: inOrder(ofType(entries, "unchanged")),
    tests: ofType(entries, "tests").map(({ action, commit, results }) => ({ action, commit, results })),
    artifacts: ofType(entries, "artifact").map(({ path, bytes }) => ({ path, bytes })),
  };
};

import { appendFileSync } from "node:fs";
import { join } from "node:path";
import type { AgentStreamEvent } from "../../agents/contract.ts";
import type { EndState } from "../../display/contract.ts";
import type { TestResults } from "../../environment/contract.ts";
import type { TokenPrices } from "../../options/usage.ts";

type Recorded<Event> = Event extends unknown
  ? Omit<Event, "timestamp"> & { readonly timestamp: string }
  : never;

/** An agent's event as it is recorded: no raw lines, and long values cut. */
export type RecordedEvent = Recorded<Exclude<AgentStreamEvent, { type: "raw" }>>;

/** One line of a trajectory. Secrets are already redacted. */
export type TrajectoryEntry =
  | {
      readonly type: "begun";
      readonly version: 1;
      readonly runId: string;
      readonly agent: string;
      /** Not set if the agent provider does not say. */
      readonly model?: string;
      /** The prices of tokens, if the caller has given them. */
      readonly prices?: TokenPrices;
      /** The hash of the prompt, before its shell expressions are expanded. */
      readonly promptSha256: string;
      readonly base: string;
    }
  /** Written once the agent's version is known, which is queried while the agent works. */
  | { readonly type: "agent"; readonly version: string }
  | {
      readonly type: "iteration";
      readonly iteration: number;
      readonly promptSha256: string;
      /** The expanded prompt without secrets; of a long one, the beginning and the end. */
      readonly prompt?: string;
    }
  | { readonly type: "event"; readonly event: RecordedEvent }
  | {
      readonly type: "action";
      /** Counts from 1, through all iterations. */
      readonly number: number;
      readonly iteration: number;
      /** Not set for changes that belong to no tool call. */
      readonly tool?: string;
      /** A short description for people. */
      readonly input: string;
      readonly isError?: boolean;
      /** The iteration ended before the action. */
      readonly isUnfinished?: boolean;
    }
  | {
      readonly type: "checkpoint";
      /** The last action that it contains; 0 for the state before the first. */
      readonly number: number;
      /** The first action that the previous checkpoint does not contain. */
      readonly from: number;
      readonly iteration: number;
      readonly sha: string;
      readonly isIncomplete?: boolean;
    }
  /** Actions that changed no files since the previous checkpoint. */
  | { readonly type: "unchanged"; readonly number: number; readonly from: number }
  | {
      readonly type: "tests";
      readonly iteration: number;
      /** The last action before them. */
      readonly action: number;
      /** The commit that was tested. */
      readonly commit: string;
      readonly results: TestResults;
    }
  | { readonly type: "artifact"; readonly path: string; readonly bytes: number }
  | { readonly type: "ended"; readonly state: EndState };

export const trajectoryPath = (runDirectory: string): string => join(runDirectory, "trajectory.jsonl");

export const artifactsDirectory = (runDirectory: string): string => join(runDirectory, "artifacts");

/** Events beyond this size are left out; entries that a replay needs are still written. */
const MAX_EVENT_BYTES = 64 * 1024 * 1024;

/**
 * The file of a trajectory, one entry a line, each written at once. If it cannot be written, for instance because the
 * disk is full, recording stops and the run continues. After a crash the last line may be incomplete.
 */
export class TrajectoryFile {
  #eventBytes = 0;
  #failure: string | undefined;

  constructor(readonly path: string) {}

  /** Why it is incomplete, if it is. */
  get failure(): string | undefined {
    return this.#failure;
  }

  write(entry: TrajectoryEntry): void {
    if (entry.type === "event" && this.#eventBytes > MAX_EVENT_BYTES) return;
    try {
      const line = `${JSON.stringify({ at: new Date().toISOString(), ...entry })}\n`;
      if (entry.type === "event") this.#eventBytes += line.length;
      appendFileSync(this.path, line, { mode: 0o600 });
    } catch (error) {
      this.#failure ??= (error as Error).message;
    }
  }
}

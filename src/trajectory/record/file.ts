import { appendFileSync } from "node:fs";
import { join } from "node:path";
import type { AgentStreamEvent } from "../../agents/contract.ts";
import type { EndState } from "../../display/contract.ts";
import type { TestResults } from "../../environment/contract.ts";
import type { TokenPrices } from "../../options/usage.ts";

type Recorded<Event> = Event extends unknown
  ? Omit<Event, "timestamp"> & { readonly timestamp: string }
  : never;

/** What an agent did, as it is written down: without raw lines, and with long values cut. */
export type RecordedEvent = Recorded<Exclude<AgentStreamEvent, { type: "raw" }>>;

/** One line of a trajectory. Secrets are out of it already. */
export type TrajectoryEntry =
  | {
      readonly type: "begun";
      readonly version: 1;
      readonly runId: string;
      readonly agent: string;
      /** Left out where the agent provider does not tell. */
      readonly model?: string;
      /** What tokens cost, if the caller has said so. */
      readonly prices?: TokenPrices;
      /** Of the prompt, before its shell expressions are expanded. */
      readonly promptSha256: string;
      readonly base: string;
    }
  /** Comes when the agent has told its version, which is asked for while it works. */
  | { readonly type: "agent"; readonly version: string }
  | {
      readonly type: "iteration";
      readonly iteration: number;
      readonly promptSha256: string;
      /** As the agent got it, without secrets; of a long one, beginning and end. */
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
      /** The one thing about it that a person wants to see. */
      readonly input: string;
      readonly isError?: boolean;
      /** The iteration ended before it did. */
      readonly isUnfinished?: boolean;
    }
  | {
      readonly type: "checkpoint";
      /** The last action that it holds; 0 for what was there before the first. */
      readonly number: number;
      /** The first action that the checkpoint before does not hold. */
      readonly from: number;
      readonly iteration: number;
      readonly sha: string;
      readonly isIncomplete?: boolean;
    }
  /** Actions after which the files were those of the checkpoint before. */
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

/** Events beyond this are left out; all that is needed to replay the run goes on. */
const MAX_EVENT_BYTES = 64 * 1024 * 1024;

/**
 * The file of a trajectory, one entry a line, each written at once. It only tells: if it cannot be written any more, because
 * the disk is full for instance, it falls silent. A torn last line is to be expected.
 */
export class TrajectoryFile {
  #eventBytes = 0;
  #failure: string | undefined;

  constructor(readonly path: string) {}

  /** Why it is not complete, if it is not. */
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

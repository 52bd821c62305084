import type { AgentStreamEvent } from "../agents/contract.ts";
import type { Reached } from "./summary.ts";
import type { Tally } from "./tally.ts";

/** The kinds of sessions. Those of a sandbox or worktree show only its start and end. */
export type SessionKind = "run" | "interactive" | "sandbox" | "worktree";

/** How a session ends. A run is unsolved if it should continue until its tests pass, and they still fail. */
export type EndState = "succeeded" | "unsolved" | "failed" | "aborted";

/** How a session ended, and its progress. */
export interface RunEnding {
  readonly state: EndState;
  /** The reason for a failure. */
  readonly problem?: string;
  readonly reached: Reached;
  readonly tally: Tally;
}

/**
 * Shows a session while it runs, in the order of the calls. Never throws: a full disk or a closed terminal must not
 * end a run.
 */
export interface RunDisplay {
  /** The reason if not everything could be shown. */
  readonly failure: string | undefined;
  /** Shows a sentence from sanddune. */
  note(sentence: string): void;
  warn(sentence: string): void;
  /** Shows the start of an iteration. */
  iteration(iteration: number, maxIterations: number): void;
  event(event: AgentStreamEvent): void;
  /** Shows a line of the agent's raw output, if its events differ from it. The run log has it with `verbose`. */
  rawLine(line: string, stream: "stdout" | "stderr"): void;
  /** Shows a line that a hook printed. */
  hookLine(hook: string, line: string): void;
  /** Shows a step that may take a while. Call the result when the step has ended. */
  step(label: string): () => void;
  close(ending: RunEnding): void;
}

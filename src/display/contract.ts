import type { AgentStreamEvent } from "../agents/contract.ts";
import type { Reached } from "./summary.ts";
import type { Tally } from "./tally.ts";

/** What is shown: a run, a session at the terminal, or the making and the end of a sandbox or of a worktree. */
export type SessionKind = "run" | "interactive" | "sandbox" | "worktree";

/** How a session ends. An unsolved run was to go on until its tests pass, and they do not. */
export type EndState = "succeeded" | "unsolved" | "failed" | "aborted";

/** How it has ended, and what it came to. */
export interface RunEnding {
  readonly state: EndState;
  /** Why it failed. */
  readonly problem?: string;
  readonly reached: Reached;
  readonly tally: Tally;
}

/**
 * Shows a session while it goes on. Everything is shown in the order in which it is told, and nothing that goes wrong with
 * showing it is thrown: a full disk or a closed terminal ends no run.
 */
export interface RunDisplay {
  /** Why not everything could be shown, if that is so. */
  readonly failure: string | undefined;
  /** A sentence of sanddune's own. */
  note(sentence: string): void;
  warn(sentence: string): void;
  /** The agent is invoked again. */
  iteration(iteration: number, maxIterations: number): void;
  event(event: AgentStreamEvent): void;
  /** A line as the agent printed it, if its events do not say the same. The run log has it with `verbose`. */
  rawLine(line: string, stream: "stdout" | "stderr"): void;
  /** A line that a hook printed. */
  hookLine(hook: string, line: string): void;
  /** A step has begun that may take a while; the result is to be called when it is over. */
  step(label: string): () => void;
  close(ending: RunEnding): void;
}

import type { AgentStreamEvent } from "../agents/contract.ts";

/** How a run is shown while it goes on. */
export interface LoggingOption {
  /**
   * The run log in `.sanddune/logs/` is written in both modes.
   * - `"file"`: log-to-file mode. Only a `tail -f` command for the run log is printed, to stderr.
   * - `"stdout"`: terminal mode. Progress, the agent's words and a summary also go to the standard output; without
   *   colours and spinners if that is not a terminal, if `NO_COLOR` is set, or if `TERM` is `dumb`.
   */
  readonly type: "file" | "stdout";
  /** Write every line as the agent printed it to the run log; in terminal mode, also show what hooks and tools print. */
  readonly verbose?: boolean;
  /** In log-to-file mode: print nothing, not even the `tail -f` command. The result has the run log's path. */
  readonly quiet?: boolean;
  /** Called with each agent stream event, in order. What it throws is swallowed: it cannot end a run. */
  readonly onAgentStreamEvent?: (event: AgentStreamEvent) => void;
}

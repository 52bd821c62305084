import type { AgentStreamEvent } from "../agents/contract.ts";

/** How a run is shown while it runs. */
export interface LoggingOption {
  /**
   * Both modes write a run log to `.sanddune/logs/`.
   * - `"file"`: log-to-file mode. Prints only a `tail -f` command for the run log, to stderr.
   * - `"stdout"`: terminal mode. Also prints progress, the agent's text and a summary to stdout. Without colours and
   *   spinners if stdout is not a terminal, if `NO_COLOR` is set, or if `TERM` is `dumb`.
   */
  readonly type: "file" | "stdout";
  /** Also write each line of the agent's raw output to the run log and, in terminal mode, show the output of hooks and tools. */
  readonly verbose?: boolean;
  /** In log-to-file mode, print nothing, not even the `tail -f` command. The result has the path of the run log. */
  readonly quiet?: boolean;
  /** Called with each agent stream event, in order. Errors that it throws are ignored: they cannot end the run. */
  readonly onAgentStreamEvent?: (event: AgentStreamEvent) => void;
}

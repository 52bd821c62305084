import type { AgentOutputParser } from "../contract.ts";

/** A parser that returns a `raw` event for a line on which it would throw: agents may print anything. */
export const tolerant =
  (parser: AgentOutputParser): AgentOutputParser =>
  (line, stream) => {
    try {
      return parser(line, stream);
    } catch {
      return [{ type: "raw", line, stream }];
    }
  };

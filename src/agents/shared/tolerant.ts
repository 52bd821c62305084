import type { AgentOutputParser } from "../contract.ts";

/** A parser that understands nothing of what it cannot read, instead of throwing: agents print whatever they like. */
export const tolerant =
  (parser: AgentOutputParser): AgentOutputParser =>
  (line, stream) => {
    try {
      return parser(line, stream);
    } catch {
      return [{ type: "raw", line, stream }];
    }
  };

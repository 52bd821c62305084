/** The type of the line that the driver prints last: it tells how the run ended. */
export const RESULT_LINE = "sanddune.result";

/** The status of a run for which the SDK threw an error: the run did not end by itself. */
export const UNAVAILABLE = "unavailable";

/** The env var that holds the MCP servers: they may contain secrets, which must not be in an argv. */
export const MCP_CONFIG = "SANDDUNE_MCP_CONFIG";

import type { ConfigEntry } from "./configFile.ts";

/** Git's trace goes to stderr, one event a line. Its first event has git's version, which saves a process. */
export const TRACED = { GIT_TRACE2_EVENT: "1" } as const;

/**
 * The trace also has the configuration, with each value as it is: passwords too. So it goes to no other place that the user has
 * configured for traces.
 */
export const TRACED_WITH_CONFIG = {
  ...TRACED,
  GIT_TRACE2: "0",
  GIT_TRACE2_PERF: "0",
  GIT_TRACE2_CONFIG_PARAMS: "*",
  GIT_TRACE2_ENV_VARS: "",
  GIT_TRACE2_REDACT: "0",
} as const;

const isTraceEvent = (line: string): boolean => line.startsWith('{"event":"');

/** Separates git's version and its messages in a traced stderr. */
export const splitTrace = (stderr: string) => {
  const lines = stderr.split("\n");
  const event = lines.find((line) => line.startsWith('{"event":"version"'));
  return {
    version: /"exe":"([^"]+)"/.exec(event ?? "")?.[1],
    said: lines.filter((line) => !isTraceEvent(line)).join("\n"),
  };
};

interface ParameterEvent {
  readonly param: string;
  readonly value?: string | null;
}

/**
 * The configuration in a traced stderr, as `git config --list` prints it; `undefined` if the trace does not have all of it.
 * Git traces before it has read the settings of a single worktree. `lastKey` is that of the last `-c` argument.
 */
export const tracedConfig = (stderr: string, lastKey: string): ConfigEntry[] | undefined => {
  const entries = stderr
    .split("\n")
    .filter((line) => line.startsWith('{"event":"def_param"'))
    .map((line): ConfigEntry => {
      const { param, value } = JSON.parse(line) as ParameterEvent;
      return [param, value ?? "true"];
    });
  const isComplete = entries.at(-1)?.[0] === lastKey.toLowerCase();
  const isPerWorktree = entries.some(([key]) => key === "extensions.worktreeconfig");
  return isComplete && !isPerWorktree ? entries : undefined;
};

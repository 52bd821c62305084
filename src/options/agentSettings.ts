import { withoutUndefined } from "../tools/values/withoutUndefined.ts";
import type { AgentOptions, PromptOption } from "./runOptions.ts";

export const DEFAULT_COMPLETION_SIGNAL = "<promise>COMPLETE</promise>";

const DEFAULTS = {
  maxIterations: 1,
  completionSignal: DEFAULT_COMPLETION_SIGNAL,
  idleTimeoutSeconds: 600,
  completionTimeoutMs: 30_000,
  onRateLimit: "fail",
} as const;

/** The options of an agent apart from its prompt. */
type Given = Omit<AgentOptions<unknown>, keyof PromptOption>;

/** The options of an agent, with their defaults: a run reads them from here wherever it needs them. */
export type AgentSettings = Given & Required<Pick<Given, keyof typeof DEFAULTS>>;

/** The only place where the defaults of these options are applied. */
export const agentSettings = (options: Given): AgentSettings => ({
  ...DEFAULTS,
  ...withoutUndefined(options),
});

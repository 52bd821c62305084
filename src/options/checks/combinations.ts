import { InvalidOptionsError } from "../../errors.ts";
import { isObject } from "../../tools/values/predicates.ts";
import type { InteractivePromptOption, WorktreeInteractiveOptions } from "../interactiveOptions.ts";
import type { AgentOptions, EnvironmentOptions, ResumeOptions } from "../runOptions.ts";
import { checkValue } from "./checks.ts";
import { env } from "./envVars.ts";
import { requireFreeName } from "./mcpServers.ts";

export const checkPrompt = ({ prompt, promptFile, promptArgs }: InteractivePromptOption): void => {
  if (prompt !== undefined && promptFile !== undefined) {
    throw new InvalidOptionsError("promptFile", "`prompt` and `promptFile` exclude each other: pass one.");
  }
  if (promptArgs !== undefined && promptFile === undefined) {
    throw new InvalidOptionsError(
      "promptArgs",
      "an inline `prompt` is passed to the agent unchanged. To use arguments, put the template into a file and pass `promptFile`.",
    );
  }
};

export const requirePrompt = (options: InteractivePromptOption): void => {
  checkPrompt(options);
  if (options.prompt === undefined && options.promptFile === undefined) {
    throw new InvalidOptionsError(
      "prompt",
      "pass the text as `prompt`, or the path of a file as `promptFile`.",
    );
  }
};

/** Checks the env vars that providers declare: a provider may be user code. */
export const checkDeclaredEnv = (options: object): void => {
  for (const name of ["agent", "sandbox"]) {
    const provider: unknown = Reflect.get(options, name);
    const declared = isObject(provider) ? provider["env"] : undefined;
    if (declared !== undefined) checkValue(`${name}.env`, declared, env);
  }
};

/** A hook that was written for a sandbox must not run on the host. */
export const checkPlace = ({ sandbox, hooks }: WorktreeInteractiveOptions): void => {
  const isOnHost = sandbox === undefined || sandbox.type === "none";
  if (isOnHost && (hooks?.sandbox?.onSandboxReady ?? []).length > 0) {
    throw new InvalidOptionsError(
      "hooks.sandbox",
      "this session has no sandbox to run these hooks in. Use hooks.host, or pass a sandbox.",
    );
  }
};

/** Only the first iteration can resume the session. */
export const checkResume = (options: ResumeOptions & AgentOptions<unknown>): void => {
  const { agent, resumeSession, forkSession, maxIterations } = options;
  if (resumeSession === undefined) {
    if (forkSession) throw new InvalidOptionsError("forkSession", "there is no `resumeSession` to fork.");
    return;
  }
  if (agent.sessions === undefined) {
    throw new InvalidOptionsError("resumeSession", `the agent ${agent.name} cannot resume a session.`);
  }
  if (maxIterations !== undefined && maxIterations > 1) {
    throw new InvalidOptionsError(
      "resumeSession",
      "a resumed session allows only one iteration: leave out `maxIterations`.",
    );
  }
};

/** Refuses options that the agent does not support: ignoring them would surprise the caller. */
export const checkAgentCan = (options: AgentOptions<unknown>): void => {
  const { agent, maxTokens, maxCostUsd, prices, mcpServers, output } = options;
  const budget = maxTokens !== undefined ? "maxTokens" : maxCostUsd !== undefined ? "maxCostUsd" : undefined;
  if (budget !== undefined && agent.reportsUsage === undefined) {
    throw new InvalidOptionsError(budget, `the agent ${agent.name} does not report how many tokens it uses.`);
  }
  if ((maxCostUsd === undefined) !== (prices === undefined)) {
    throw new InvalidOptionsError(
      maxCostUsd === undefined ? "prices" : "maxCostUsd",
      "`maxCostUsd` and `prices` need each other, because sanddune does not know what your tokens cost.",
    );
  }
  if ((output?.maxRetries ?? 0) > 0 && agent.sessions === undefined) {
    throw new InvalidOptionsError(
      "output.maxRetries",
      `the agent ${agent.name} cannot resume its session, so it cannot correct its answer.`,
    );
  }
  if (mcpServers !== undefined && agent.acceptsMcpServers !== true) {
    throw new InvalidOptionsError("mcpServers", `the agent ${agent.name} does not support MCP servers.`);
  }
};

export const checkEnvironment = ({
  environment,
  until,
  mcpServers = {},
}: EnvironmentOptions & AgentOptions<unknown>): void => {
  if (until !== undefined && environment === undefined) {
    throw new InvalidOptionsError("until", "there are no tests to pass: also pass `environment`.");
  }
  if (environment !== undefined) requireFreeName(mcpServers);
};

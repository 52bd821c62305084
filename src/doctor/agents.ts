import type { AgentProvider } from "../agents/contract.ts";
import { agentRegistry } from "../agents/registry.ts";
import { sandduneCommand } from "../process/ownCommand/sandduneCommand.ts";
import type { BindMountSandboxHandle } from "../sandboxes/contract.ts";
import { findProvider } from "../sandboxes/registry.ts";
import { shellQuote } from "../tools/shellQuote.ts";
import { type Finding, failed, note, ok } from "./finding.ts";
import type { Situation } from "./situation.ts";

const VERSION_TIMEOUT_MS = 20_000;

/** The version of the agent's program; `undefined` if it does not run. */
const versionIn = async (
  handle: BindMountSandboxHandle,
  { installation }: AgentProvider,
  signal: AbortSignal | undefined,
): Promise<string | undefined> => {
  if (installation === undefined) return undefined;
  const command = installation.versionCommand.map(shellQuote).join(" ");
  const { exitCode, stdout } = await handle.exec(command, {
    timeoutMs: VERSION_TIMEOUT_MS,
    ...(signal && { signal }),
  });
  return exitCode === 0 ? (/\d+\.\S+/.exec(stdout)?.[0] ?? "found") : undefined;
};

/** How to install a program in a sandbox, by lines of a Dockerfile. */
export const installFix = (lines: readonly string[], sandbox: string): string => {
  const provider = findProvider(sandbox);
  const commands = lines.map((line) => line.replace(/^RUN /, "")).join(" && ");
  if (provider === undefined) return `Install it in the sandbox: ${commands}`;
  if (provider.imageEngine === undefined) {
    return `On this machine, as root or with a Node.js of your own, as nvm installs it: ${commands}`;
  }
  const file = provider.imageEngine === "podman" ? "Containerfile" : "Dockerfile";
  return `Add to .sanddune/${file}: ${lines.join("; ")} – then: ${sandduneCommand(sandbox, "build-image")}`;
};

export const agentTitle = (agent: AgentProvider, sandbox: string): string => `${agent.name} in ${sandbox}`;

/** Checks the agent's program in the sandbox: of the chosen agent, or else of all agents. */
export const checkAgents = async (
  handle: BindMountSandboxHandle,
  { agent }: Situation,
  sandbox: string,
  signal: AbortSignal | undefined,
): Promise<Finding> => {
  if (agent !== undefined) {
    const title = agentTitle(agent, sandbox);
    const version = await versionIn(handle, agent, signal).catch((error: Error) => error);
    if (version instanceof Error) {
      const command = agent.installation?.versionCommand.map(shellQuote).join(" ");
      return failed(title, version.message, `Find out why this does not finish there: ${command}`);
    }
    return version === undefined
      ? failed(
          title,
          "its program does not run there",
          installFix(agent.installation?.dockerfile ?? [], sandbox),
        )
      : ok(title, version);
  }
  const found = await Promise.all(
    Object.values(agentRegistry).map(async ({ create, exampleModel }) => {
      const provider = create(exampleModel);
      const version = await versionIn(handle, provider, signal).catch(() => undefined);
      return version === undefined ? [] : [`${provider.name} ${version}`];
    }),
  );
  const names = found.flat();
  return names.length === 0
    ? note(`agents in ${sandbox}`, "no agent that sanddune knows is installed")
    : ok(`agents in ${sandbox}`, names.join(", "));
};

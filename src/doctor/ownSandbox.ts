import { sandduneCommand } from "../process/ownCommand/sandduneCommand.ts";
import type { SandboxProvider } from "../sandboxes/contract.ts";
import { preflight } from "../sandboxes/handle/preflight.ts";
import { checkAgents } from "./agents.ts";
import { attempt, type Finding, ok } from "./finding.ts";
import { checkOwner, withProbe } from "./probe.ts";
import type { Situation } from "./situation.ts";

/** Examines a sandbox of a custom provider. An isolated one is not made: that may cost something. */
export const examineOwn = (
  provider: SandboxProvider,
  situation: Situation,
  signal: AbortSignal | undefined,
): Promise<readonly Finding[]> => {
  const { name } = provider;
  const repositoryPath = situation.repository?.topLevel ?? situation.cwd;
  const fix = `Mend its provider – then again: ${sandduneCommand("doctor")}`;
  return attempt(name, fix, async () => {
    await preflight(provider, { repositoryPath, ...(signal && { signal }) });
    if (provider.type === "isolated") return [ok(name, "can be reached; its agents were not looked at")];
    return withProbe(provider, { repositoryPath, signal }, async (handle, directory) => [
      ok(name, "works"),
      await checkOwner(handle, directory, name),
      await checkAgents(handle, situation, name, signal),
    ]);
  });
};

import type { AgentProvider } from "../../agents/contract.ts";
import type { SandboxHandle } from "../../sandboxes/contract.ts";
import { shellQuote } from "../../tools/shellQuote.ts";

const TIMEOUT_MS = 30_000;
const MAX_BYTES = 4096;
const MAX_LENGTH = 100;

/** The version of the agent in a sandbox, as its program prints it; `undefined` if it prints none. Never rejects. */
export const agentVersion = async (
  { installation }: AgentProvider,
  handle: Pick<SandboxHandle, "exec">,
  signal: AbortSignal,
): Promise<string | undefined> => {
  if (installation === undefined) return undefined;
  const command = installation.versionCommand.map(shellQuote).join(" ");
  const options = { cwd: "/", signal, timeoutMs: TIMEOUT_MS, captureBytes: MAX_BYTES };
  const { exitCode, stdout } = await handle
    .exec(command, options)
    .catch(() => ({ exitCode: undefined, stdout: "" }));
  const [line = ""] = stdout.trim().split("\n");
  return exitCode === 0 && line !== "" ? line.slice(0, MAX_LENGTH) : undefined;
};

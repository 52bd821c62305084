import { mkdir, realpath } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { SandboxError } from "../../errors.ts";
import { hostSystem } from "../../process/host/system.ts";
import { EXEC_ID_VARIABLE, SANDBOX_VARIABLE } from "../../process/kill/processMarks.ts";
import type { IsolatedSandboxHandle, SandboxCreateOptions } from "../contract.ts";
import { keepDirectories, makeDirectories } from "../directories/directorySnapshot.ts";
import { isolatedCommandSandbox } from "../exec/commandSandbox.ts";
import { killOnHost } from "../exec/killOnHost.ts";
import { inPseudoTerminal, requirePseudoTerminal } from "../exec/pseudoTerminal.ts";
import { NO_ROOT } from "../handle/noRoot.ts";
import { removeTestIsolated, testIsolatedDirectory } from "./directory.ts";

export const TEST_ISOLATED = "test-isolated";

const PARTS = ["repo", "home", "tmp"] as const;

export const createTestIsolatedSandbox = async ({
  sandboxName,
  snapshot,
  signal,
}: SandboxCreateOptions): Promise<IsolatedSandboxHandle> => {
  signal?.throwIfAborted();
  // The name identifies the sandbox, if sanddune is killed before it can remove the directory.
  const directory = testIsolatedDirectory(await realpath(tmpdir()), sandboxName);
  await mkdir(directory, { mode: 0o700 });
  const sandboxMark = basename(directory);
  const worktreePath = join(directory, "repo");
  const homePath = join(directory, "home");
  const temporaryPath = join(directory, "tmp");
  try {
    await makeDirectories(directory, PARTS, { provider: TEST_ISOLATED, snapshot, signal });
  } catch (error) {
    await removeTestIsolated(directory);
    throw error;
  }

  const env = {
    PATH: process.env["PATH"] ?? "/usr/local/bin:/usr/bin:/bin",
    HOME: homePath,
    LANG: "C.UTF-8",
    // Temporary files of a killed command are removed with the sandbox.
    TMPDIR: temporaryPath,
    [SANDBOX_VARIABLE]: sandboxMark,
  };
  return isolatedCommandSandbox({
    provider: TEST_ISOLATED,
    name: sandboxName,
    worktreePath,
    fallbackHome: homePath,
    temporaryPath,
    launch: (argv, { sudo, execId, terminal = false }) => {
      if (sudo) throw new SandboxError(TEST_ISOLATED, NO_ROOT);
      const ownEnv = { ...env, ...(execId !== undefined && { [EXEC_ID_VARIABLE]: execId }) };
      const [program = "sh", ...args] = argv;
      if (terminal) return inPseudoTerminal({ program, args, env: ownEnv });
      // In a session of their own, background processes outlive the process that the host waits for.
      return { ...hostSystem().inOwnSession(argv), env: ownEnv };
    },
    ...killOnHost,
    requireTerminal: () => requirePseudoTerminal(TEST_ISOLATED),
    snapshot: (taken) => keepDirectories(directory, PARTS, taken),
    diagnose: async () => ({
      problem: "commands can no longer be started",
      details: `Its directory: ${directory}`,
    }),
    close: () => removeTestIsolated(directory),
  });
};

import { randomBytes } from "node:crypto";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { EnvironmentStartError } from "../../../errors.ts";
import { fetchFile } from "../../../git/transfer/export/fetchBundles.ts";
import type { SandboxRepository } from "../../../git/transfer/sandboxRepository.ts";
import { shellQuote } from "../../../tools/shellQuote.ts";

const TIMEOUT_MS = 5 * 60_000;

/** Larger than the files of a repository, and smaller than the host's disk. */
const MAX_BYTES = 4 * 1024 ** 3;

/** Copies an archive of the commit at HEAD of the agent's sandbox to the host. Untrusted: only to answer the agent itself. */
export const archiveInSandbox = async (
  sandbox: SandboxRepository,
  hostPath: string,
  signal: AbortSignal,
): Promise<void> => {
  const { handle, gitDirectory, hostGitDirectory } = sandbox;
  const name = `sanddune-tests-${randomBytes(8).toString("hex")}.tar`;
  const archive = `${gitDirectory}/${name}`;
  const quoted = shellQuote(archive);
  try {
    const { exitCode, stderr } = await handle.exec(
      `GIT_DIR=${shellQuote(gitDirectory)} git archive --format=tar --output=${quoted} HEAD`,
      { cwd: handle.worktreePath, timeoutMs: TIMEOUT_MS, signal },
    );
    if (exitCode !== 0) throw new EnvironmentStartError("git could not pack the agent's commit", stderr);
    await fetchFile(sandbox, name, hostPath, MAX_BYTES);
  } finally {
    if (hostGitDirectory !== undefined) await rm(join(hostGitDirectory, name), { force: true });
    else await handle.exec(`rm -f -- ${quoted}`, { cwd: "/", timeoutMs: 10_000 }).catch(() => {});
  }
};

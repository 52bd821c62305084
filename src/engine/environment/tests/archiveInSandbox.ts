import { randomBytes } from "node:crypto";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { EnvironmentStartError } from "../../../errors.ts";
import { copyUntrustedFile } from "../../../git/transfer/export/copyUntrustedFile.ts";
import type { SandboxRepository } from "../../../git/transfer/sandboxRepository.ts";
import { shellQuote } from "../../../tools/shellQuote.ts";

const TIMEOUT_MS = 5 * 60_000;

/** More than a repository's files are; less than the host's disk. */
const MAX_BYTES = 4 * 1024 ** 3;

/**
 * Brings an archive of what is committed in the agent's sandbox to the host. It is the agent's word what is in it: good enough to
 * answer the agent.
 */
export const archiveInSandbox = async (
  { handle, gitDirectory, hostGitDirectory }: SandboxRepository,
  hostPath: string,
  signal: AbortSignal,
): Promise<void> => {
  const name = `sanddune-tests-${randomBytes(8).toString("hex")}.tar`;
  const archive = `${gitDirectory}/${name}`;
  const quoted = shellQuote(archive);
  try {
    const { exitCode, stderr } = await handle.exec(
      `GIT_DIR=${shellQuote(gitDirectory)} git archive --format=tar --output=${quoted} HEAD`,
      { cwd: handle.worktreePath, timeoutMs: TIMEOUT_MS, signal },
    );
    if (exitCode !== 0) throw new EnvironmentStartError("git could not pack the agent's commit", stderr);
    if (hostGitDirectory === undefined) await handle.copyFileOut(archive, hostPath);
    else await copyUntrustedFile(join(hostGitDirectory, name), hostPath, MAX_BYTES);
  } finally {
    if (hostGitDirectory !== undefined) await rm(join(hostGitDirectory, name), { force: true });
    else await handle.exec(`rm -f -- ${quoted}`, { cwd: "/", timeoutMs: 10_000 }).catch(() => {});
  }
};

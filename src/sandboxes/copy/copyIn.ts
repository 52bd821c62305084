import { lstatSync, readlinkSync, type Stats } from "node:fs";
import { type FileHandle, mkdtemp, open, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, posix } from "node:path";
import { SandboxError } from "../../errors.ts";
import { hostEnvironment } from "../../process/hostPrograms.ts";
import { runProcess } from "../../process/runProcess.ts";
import { shellQuote } from "../../tools/shellQuote.ts";
import { copyFileIn, type FileExec, fileContent, requireAbsolute } from "./copyFile.ts";

const refusal = (exec: FileExec, hostPath: string) => (problem: string, output: string, cause?: unknown) =>
  new SandboxError(exec.provider, `${JSON.stringify(hostPath)} was not copied in: ${problem}`, output, {
    cause,
  });

type Refuse = ReturnType<typeof refusal>;

/** Packs the files of a directory, with links as links. Fails if a file cannot be read: a partial copy is useless. */
const pack = async (directory: string, archivePath: string, refuse: Refuse): Promise<void> => {
  const { exitCode, stderr } = await runProcess({
    program: "tar",
    args: ["-cf", archivePath, "-C", directory, "."],
    // The tar of macOS would add a file ._NAME for each file with extended attributes.
    env: { ...hostEnvironment(), COPYFILE_DISABLE: "1" },
  });
  if (exitCode !== 0) throw refuse("packing it failed", stderr);
};

/** The files of a directory as an unlinked archive: if this process is killed meanwhile, nothing is left behind. */
const packed = async (directory: string, refuse: Refuse): Promise<FileHandle> => {
  const temporary = await mkdtemp(join(tmpdir(), "sanddune-copy-"));
  try {
    const archivePath = join(temporary, "archive.tar");
    await pack(directory, archivePath, refuse);
    return await open(archivePath);
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
};

const unpacking = (sandboxPath: string): string => {
  const target = shellQuote(sandboxPath);
  return `command -v tar >/dev/null || { echo 'There is no tar in the sandbox: install it in its image.' >&2; exit 127; }
mkdir -p -- ${target} && tar -xpof - -C ${target}`;
};

const copyDirectoryIn = async (
  exec: FileExec,
  hostPath: string,
  sandboxPath: string,
  refuse: Refuse,
): Promise<void> => {
  const archive = await packed(hostPath, refuse);
  try {
    const { exitCode, stderr } = await exec.run({
      command: unpacking(sandboxPath),
      cwd: "/",
      stdin: fileContent(archive),
    });
    if (exitCode !== 0) throw refuse("unpacking it in the sandbox failed", stderr);
  } finally {
    await archive.close();
  }
};

const copyLinkIn = async (
  exec: FileExec,
  hostPath: string,
  sandboxPath: string,
  refuse: Refuse,
): Promise<void> => {
  const { exitCode, stderr } = await exec.run({
    command: `mkdir -p -- ${shellQuote(posix.dirname(sandboxPath))} && ln -sfn -- ${shellQuote(readlinkSync(hostPath))} ${shellQuote(sandboxPath)}`,
    cwd: "/",
  });
  if (exitCode !== 0) throw refuse("making the link failed", stderr);
};

const statusOf = (path: string, refuse: Refuse): Stats => {
  try {
    return lstatSync(path);
  } catch (cause) {
    throw refuse((cause as Error).message, "", cause);
  }
};

/** Copies a host file, directory or link into a sandbox, in bounded memory: a directory as one archive. */
export const copyIn = async (exec: FileExec, hostPath: string, sandboxPath: string): Promise<void> => {
  requireAbsolute(exec.provider, sandboxPath);
  const refuse = refusal(exec, hostPath);
  const status = statusOf(hostPath, refuse);
  if (status.isDirectory()) return copyDirectoryIn(exec, hostPath, sandboxPath, refuse);
  if (status.isSymbolicLink()) return copyLinkIn(exec, hostPath, sandboxPath, refuse);
  return copyFileIn(exec, hostPath, sandboxPath);
};

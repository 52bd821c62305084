import { mkdir, readdir, rename } from "node:fs/promises";
import { join } from "node:path";
import { SandboxError } from "../../errors.ts";
import type { SandboxHandle } from "../../sandboxes/contract.ts";
import { shellQuote } from "../../tools/shellQuote.ts";
import { unpackTar } from "../tar/unpackTar.ts";
import { ProjectRefusedError } from "./projectRefused.ts";

const MAX_BYTES = 2 * 1024 * 1024 * 1024;
const TIMEOUT_MS = 10 * 60_000;
const NO_TAR = 127;

/**
 * Prints the path of the archive. The exit code of `tar` does not matter: the agent may leave unreadable or changing
 * files, and an incomplete archive is detected when it is unpacked.
 */
const packing = (directory: string): string => `command -v tar >/dev/null || exit ${NO_TAR}
mkdir -p -- ${shellQuote(directory)} && archive=$(mktemp) || exit 1
tar -cf - -C ${shellQuote(directory)} . 2>/dev/null | head -c ${MAX_BYTES + 1} >"$archive" || exit 1
printf %s "$archive"`;

const pack = async (handle: SandboxHandle, directory: string, refuse: Refuse): Promise<string> => {
  const { exitCode, stdout, stderr } = await handle.exec(packing(directory), {
    cwd: "/",
    timeoutMs: TIMEOUT_MS,
  });
  if (exitCode === NO_TAR) throw refuse("there is no `tar` in the sandbox: install it in its image");
  // The agent may have replaced `tar`, or filled the disk.
  if (exitCode !== 0) throw refused(handle, `packing it failed with exit code ${exitCode}`, stderr);
  return stdout;
};

const refused = ({ name }: SandboxHandle, problem: string, output: string, cause?: Error) =>
  new ProjectRefusedError(name, `the project is refused: ${problem}`, output, { cause });

type Refuse = (problem: string, output?: string) => SandboxError;

const moveContent = async (from: string, to: string): Promise<void> => {
  const inDirectory = (directory: string, name: Buffer) =>
    Buffer.concat([Buffer.from(`${directory}/`), name]);
  for (const name of await readdir(from, { encoding: "buffer" })) {
    await rename(inDirectory(from, name), inDirectory(to, name));
  }
};

/** Replaces the project on the host, once it is copied completely from an isolated sandbox. */
export const copyProjectOut = async (
  handle: SandboxHandle,
  { filesPath, projectPath }: { readonly filesPath: string; readonly projectPath: string },
): Promise<void> => {
  const refuse: Refuse = (problem, output = "") =>
    new SandboxError(handle.name, `the project could not be copied out: ${problem}`, output);
  const archivePath = join(filesPath, "project.tar");
  const newPath = join(filesPath, "new");
  const oldPath = join(filesPath, "old");
  const packed = await pack(handle, handle.worktreePath, refuse);
  await handle.copyFileOut(packed, archivePath);
  await handle.exec(`rm -f -- ${shellQuote(packed)}`, { cwd: "/" });
  await mkdir(newPath);
  await mkdir(oldPath);
  await unpackTar(archivePath, newPath, { maxBytes: MAX_BYTES }).catch((error: Error) => {
    throw refused(handle, error.message, "", error);
  });
  await moveContent(projectPath, oldPath);
  await moveContent(newPath, projectPath);
};

import { randomBytes } from "node:crypto";
import { closeSync, constants, openSync, type ReadStream, writeSync } from "node:fs";
import { type FileHandle, lstat, open, rename, rm } from "node:fs/promises";
import { dirname, join, posix } from "node:path";
import { SandboxError, SandboxLostError } from "../../errors.ts";
import { hasCode } from "../../tools/files/hasCode.ts";
import { shellQuote } from "../../tools/shellQuote.ts";
import type { ExecResult } from "../contract.ts";
import type { ExecRequest } from "../exec/runExec.ts";
import { limitDownload } from "./downloadLimit.ts";

/** How copying runs commands in a sandbox. */
export interface FileExec {
  readonly provider: string;
  run(request: ExecRequest): Promise<ExecResult>;
}

type Refuse = (problem: string, output?: string, cause?: unknown) => SandboxError;

const show = (path: string): string => JSON.stringify(path);

export const requireAbsolute = (provider: string, sandboxPath: string): void => {
  if (!posix.isAbsolute(sandboxPath)) {
    throw new SandboxError(provider, `${show(sandboxPath)} is not an absolute path in the sandbox`);
  }
};

/** A piece may be a request to another machine, so small pieces are slow. */
const PIECE_BYTES = 1024 * 1024;

/** The content of a file, piece by piece. The caller closes the file. */
export const fileContent = (file: FileHandle): ReadStream =>
  file.createReadStream({ autoClose: false, highWaterMark: PIECE_BYTES });

/** Streams a host file into the sandbox, permission bits included; missing directories are made. */
export const copyFileIn = async (exec: FileExec, hostPath: string, sandboxPath: string): Promise<void> => {
  requireAbsolute(exec.provider, sandboxPath);
  const refuse: Refuse = (problem, output = "", cause) =>
    new SandboxError(exec.provider, `${show(hostPath)} was not copied in: ${problem}`, output, { cause });
  // Without O_NONBLOCK, opening a named pipe would wait for a writer.
  const file = await open(hostPath, constants.O_RDONLY | constants.O_NONBLOCK).catch((cause: unknown) => {
    throw refuse((cause as Error).message, "", cause);
  });
  try {
    const status = await file.stat();
    if (!status.isFile()) throw refuse("it is not a regular file");
    const target = shellQuote(sandboxPath);
    const { exitCode, stderr } = await exec.run({
      command: [
        `mkdir -p -- ${shellQuote(posix.dirname(sandboxPath))}`,
        `cat >${target}`,
        `chmod ${(status.mode & 0o777).toString(8)} -- ${target}`,
      ].join(" && "),
      cwd: "/",
      stdin: fileContent(file),
    });
    if (exitCode !== 0) throw refuse(`writing ${show(sandboxPath)} failed`, stderr);
  } finally {
    await file.close();
  }
};

const NOT_A_REGULAR_FILE = 3;
const MISSING = 4;

/** The file is read inside the sandbox, so that a link swapped in between reaches nothing of the host. */
const readRegularFile = (sandboxPath: string): string => {
  const path = shellQuote(sandboxPath);
  return `[ -L ${path} ] && exit ${NOT_A_REGULAR_FILE}
[ -e ${path} ] || exit ${MISSING}
[ -f ${path} ] || exit ${NOT_A_REGULAR_FILE}
exec cat <${path}`;
};

const statusOf = async (path: string) =>
  lstat(path).catch((error: unknown) => {
    if (hasCode(error, "ENOENT")) return undefined;
    throw error;
  });

const receive = async (
  exec: FileExec,
  sandboxPath: string,
  newHostPath: string,
  refuse: Refuse,
): Promise<void> => {
  const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = constants;
  const file = openSync(newHostPath, O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY, 0o644);
  const arrival = limitDownload(dirname(newHostPath));
  try {
    const { exitCode, stderr } = await exec.run({
      command: readRegularFile(sandboxPath),
      cwd: "/",
      captureBytes: 4096,
      signal: arrival.signal,
      // Synchronous, so that memory stays bounded when the disk is slower than the sandbox.
      onStdoutChunk: (chunk) => {
        arrival.count(chunk.length);
        for (let written = 0; written < chunk.length; ) written += writeSync(file, chunk, written);
      },
    });
    if (exitCode === MISSING) throw refuse("it does not exist in the sandbox");
    if (exitCode === NOT_A_REGULAR_FILE) throw refuse("it is not a regular file");
    if (exitCode !== 0) throw refuse(`reading it failed with exit code ${exitCode}`, stderr);
  } finally {
    arrival.end();
    closeSync(file);
  }
};

/**
 * Streams a regular file of the sandbox to the host, in bounded memory.
 * The destination appears complete or not at all, and neither it nor its directory may be a symbolic link.
 */
export const copyFileOut = async (exec: FileExec, sandboxPath: string, hostPath: string): Promise<void> => {
  requireAbsolute(exec.provider, sandboxPath);
  const refuse: Refuse = (problem, output = "", cause) =>
    new SandboxError(exec.provider, `${show(sandboxPath)} was not copied out: ${problem}`, output, { cause });

  const directory = await statusOf(dirname(hostPath));
  if (!directory?.isDirectory()) throw refuse(`${show(dirname(hostPath))} is not a directory on the host`);
  const destination = await statusOf(hostPath);
  if (destination !== undefined && !destination.isFile()) {
    throw refuse(`${show(hostPath)} on the host is not a regular file`);
  }

  const temporaryPath = join(dirname(hostPath), `.sanddune-${randomBytes(8).toString("hex")}`);
  try {
    await receive(exec, sandboxPath, temporaryPath, refuse);
    await rename(temporaryPath, hostPath);
  } catch (error) {
    await rm(temporaryPath, { force: true });
    if (error instanceof SandboxError || error instanceof SandboxLostError) throw error;
    throw refuse((error as Error).message, "", error);
  }
};

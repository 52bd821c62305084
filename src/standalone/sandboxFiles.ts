import { posix } from "node:path";
import { SandboxError } from "../errors.ts";
import type { ExecOptions, ExecResult } from "../sandboxes/contract.ts";
import { shellQuote } from "../tools/shellQuote.ts";

/** The part of a sandbox that reading and writing needs. */
export interface FileSandbox {
  readonly provider: string;
  exec(command: string, options: ExecOptions): Promise<ExecResult>;
}

const MAX_READ_MEBIBYTES = 64;
const MAX_READ_BYTES = MAX_READ_MEBIBYTES * 1024 * 1024;
/** In base64, with line ends and a margin. */
const MAX_ENCODED_BYTES = Math.ceil(MAX_READ_BYTES * 1.4);

const show = (path: string): string => JSON.stringify(path);

const refusal = (provider: string, problem: string, output?: string) =>
  new SandboxError(provider, problem, output);

const EXIT = { notAFile: 3, missing: 4, notReadable: 5, noBase64: 6, incomplete: 7 } as const;

/** The exit code of a pipeline is that of its last command, so the exit code of `head` comes on stderr. */
const reading = (path: string): string => {
  const file = shellQuote(path);
  return `[ -e ${file} ] || exit ${EXIT.missing}
[ -f ${file} ] || exit ${EXIT.notAFile}
[ -r ${file} ] || exit ${EXIT.notReadable}
command -v base64 >/dev/null || exit ${EXIT.noBase64}
{ head -c ${MAX_READ_BYTES + 1} <${file}; echo "$?" >&2; } | base64`;
};

const READ_PROBLEMS: Readonly<Record<number, string>> = {
  [EXIT.missing]: "it does not exist in the sandbox",
  [EXIT.notAFile]: "it is not a regular file",
  [EXIT.notReadable]: "the user of the sandbox may not read it",
  [EXIT.noBase64]: "the sandbox has no base64 program: install coreutils in its image",
};

/** Reads a file of the sandbox as bytes. Follows links within the sandbox. */
export const readFileBytes = async ({ provider, exec }: FileSandbox, path: string): Promise<Buffer> => {
  const { exitCode, stdout, stderr } = await exec(reading(path), {
    cwd: "/",
    captureBytes: MAX_ENCODED_BYTES,
  });
  const refuse = (problem: string, output?: string) =>
    refusal(provider, `${show(path)} was not read: ${problem}`, output);
  if (exitCode !== 0) throw refuse(READ_PROBLEMS[exitCode] ?? `exit code ${exitCode}`, stderr);
  if (!/^0$/m.test(stderr)) throw refuse("it could not be read completely", stderr);
  const bytes = Buffer.from(stdout, "base64");
  if (bytes.length > MAX_READ_BYTES) {
    throw refuse(
      `it is larger than ${MAX_READ_MEBIBYTES} MiB. Use copyFileOut(), which holds nothing in memory`,
    );
  }
  return bytes;
};

/** Reads a UTF-8 text file of the sandbox. */
export const readFile = async (sandbox: FileSandbox, path: string): Promise<string> => {
  const bytes = await readFileBytes(sandbox, path);
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw refusal(sandbox.provider, `${show(path)} is not UTF-8 text. Use readFileBytes()`);
  }
};

/** `cat` does not notice input that ends early, so the size is checked. */
const writing = (path: string, bytes: number): string => {
  const file = shellQuote(path);
  return `mkdir -p -- ${shellQuote(posix.dirname(path))} && cat >${file} || exit 1
[ ! -f ${file} ] || [ "$(($(wc -c <${file})))" -eq ${bytes} ] || exit ${EXIT.incomplete}`;
};

/** Writes a file in the sandbox, and creates missing directories. */
export const writeFile = async (
  { provider, exec }: FileSandbox,
  path: string,
  content: string | Uint8Array,
): Promise<void> => {
  const bytes = typeof content === "string" ? Buffer.from(content) : content;
  const { exitCode, stderr } = await exec(writing(path, bytes.length), { cwd: "/", stdin: bytes });
  if (exitCode === 0) return;
  const problem =
    exitCode === EXIT.incomplete
      ? "it is incomplete, or another process writes to it"
      : `exit code ${exitCode}`;
  throw refusal(provider, `${show(path)} was not written: ${problem}`, stderr);
};

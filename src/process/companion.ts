import { spawn } from "node:child_process";
import type { Socket } from "node:net";
import { findProgram, hostEnvironment } from "./hostPrograms.ts";

export interface CompanionSpec {
  readonly program: string;
  readonly args: readonly string[];
  /** Removed when the program has ended. */
  readonly directory: string;
  readonly onStdoutChunk: (chunk: Buffer) => void;
  readonly onStderrChunk: (chunk: Buffer) => void;
}

/** A program that runs in the background until it is stopped, or until this process ends. */
export interface Companion {
  /** Resolves when it has ended, with a description of how. */
  readonly isOver: Promise<string>;
  stop(): void;
}

/** Runs `"$@"` until it or this process ends (which closes its stdin). Then removes the directory. */
const WATCHED = `
directory=$1
shift
exec 3<&0
"$@" </dev/null 3<&- &
program=$!
{ cat <&3 >/dev/null; kill "$program"; } 2>/dev/null &
watcher=$!
exec 3<&-
wait "$program"
code=$?
kill "$watcher" 2>/dev/null
rm -rf -- "$directory"
exit "$code"
`;

/** Starts a program that ends with this process, even if it is killed, and does not keep this process alive. */
export const startCompanion = (spec: CompanionSpec): Companion => {
  const watched = ["-c", WATCHED, "sanddune", spec.directory, findProgram(spec.program), ...spec.args];
  const child = spawn(findProgram("sh"), watched, {
    // A session without a terminal: it gets no Ctrl-C and cannot ask for a password.
    detached: true,
    env: hostEnvironment(),
    stdio: "pipe",
  });
  child.unref();
  for (const stream of [child.stdin, child.stdout, child.stderr]) {
    stream.on("error", () => {});
    (stream as Socket).unref();
  }
  child.stdout.on("data", spec.onStdoutChunk);
  child.stderr.on("data", spec.onStderrChunk);
  const isOver = new Promise<string>((resolve) => {
    child.once("error", (error) => resolve(error.message));
    child.once("close", (code) => {
      child.stdin.destroy();
      resolve(`${spec.program} ended with exit code ${code}`);
    });
  });
  return { isOver, stop: () => void child.stdin.destroy() };
};

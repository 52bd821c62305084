import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import type { Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { BoundedCapture } from "../tools/boundedCapture.ts";
import { LineSplitter } from "../tools/lineSplitter.ts";
import { exitCodeOf } from "./exitCode.ts";
import { findProgram } from "./hostPrograms.ts";
import { killDescendantsOutside } from "./kill/killDescendants.ts";
import { killGroup } from "./kill/killGroup.ts";
import { killMarked } from "./kill/killMarked.ts";

export interface DependentSpec {
  readonly program: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** The complete environment. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The time between SIGTERM and SIGKILL. */
  readonly graceMs: number;
  /** Gets the lines that it writes to its file descriptor 3, which exists only with this callback. */
  readonly onMessage?: (line: string) => void;
  readonly onOutputLine?: (line: string) => void;
}

/** A program that only serves this process, and ends with it. */
export interface Dependent {
  /** Writes a line to its file descriptor 3. */
  send(line: string): void;
  /** Resolves with its exit code when it has ended. Processes that it started may still run. */
  readonly exited: Promise<number>;
  /** The end of its output, of both streams. */
  output(): string;
  /** Ends it and everything that it started, even outside its process group. Idempotent, never rejects. */
  end(): Promise<void>;
}

const OUTPUT_BYTES = 16 * 1024;
const MAX_OUTPUT_LINE_BYTES = 4096;
/** How long to wait for its last output: processes that it started can keep the pipes open. */
const LAST_OUTPUT_MS = 250;
const MARK = "SANDDUNE_DEPENDENT_ID";

/**
 * Becomes `"$@"`, the leader of a process group that also holds a watcher. File descriptor 4 is closed when this process
 * ends in any way; two seconds later the watcher kills the group. The watcher also keeps the group's id from being reused.
 */
const WATCHED = `
{ cat <&4; sleep 2; kill -9 "-$$"; } 3>&- >/dev/null 2>&1 &
exec "$@" 4<&-
`;

const start = ({ program, args, cwd, env, onMessage }: DependentSpec, mark: string): ChildProcess =>
  spawn(findProgram("sh"), ["-c", WATCHED, "sanddune", program, ...args], {
    cwd,
    env: { ...env, [MARK]: mark },
    detached: true,
    stdio: ["ignore", "pipe", "pipe", onMessage ? "pipe" : "ignore", "pipe"],
  });

const follow = (stream: Socket | null | undefined, onChunk: (chunk: Buffer) => void): void => {
  stream?.on("data", onChunk).on("error", () => {});
};

/**
 * Starts a program that does not outlive this process, even if this process is killed, and that can be ended with
 * everything it started. `program` is looked up in the PATH of `env`. It has no standard input. The end of its output is kept.
 */
export const startDependent = (spec: DependentSpec): Dependent => {
  const mark = randomUUID();
  const child = start(spec, mark);
  const printed = new BoundedCapture(OUTPUT_BYTES);
  const [, stdout, stderr, channel, lifeline] = child.stdio as unknown as readonly (Socket | null)[];
  for (const stream of [stdout, stderr]) {
    const lines = spec.onOutputLine && new LineSplitter(spec.onOutputLine, MAX_OUTPUT_LINE_BYTES);
    follow(stream, (chunk) => {
      printed.push(chunk);
      lines?.push(chunk);
    });
    stream?.once("end", () => lines?.end());
  }
  lifeline?.on("error", () => {});
  if (spec.onMessage) {
    const messages = new LineSplitter(spec.onMessage);
    follow(channel, (chunk) => messages.push(chunk));
  }
  const read = [stdout, stderr, channel].map(
    (stream) => new Promise<void>((resolve) => (stream ? stream.once("close", resolve) : resolve())),
  );
  const exited = new Promise<number>((resolve) => {
    child.once("error", () => resolve(127));
    child.once("exit", async (code, signal) => {
      await Promise.race([Promise.all(read), delay(LAST_OUTPUT_MS)]);
      resolve(exitCodeOf(code, signal));
    });
  });

  const endAll = async (): Promise<void> => {
    if (child.pid !== undefined) {
      killDescendantsOutside(child.pid);
      await killGroup(child.pid, spec.graceMs);
      await killMarked({ name: MARK, value: mark });
    }
    for (const stream of child.stdio) stream?.destroy();
  };
  let ending: Promise<void> | undefined;
  return {
    send: (line) => void channel?.write(`${line}\n`),
    exited,
    output: () => printed.text(),
    end: () => {
      ending ??= endAll().catch(() => {});
      return ending;
    },
  };
};

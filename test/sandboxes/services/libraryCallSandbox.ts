import { spawn } from "node:child_process";
import { mkdtemp, realpath } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { SandboxError } from "../../../src/errors.ts";
import { SANDBOX_VARIABLE } from "../../../src/process/kill/processMarks.ts";
import type { IsolatedSandboxHandle } from "../../../src/sandboxes/contract.ts";
import { isolatedCommandSandbox } from "../../../src/sandboxes/exec/commandSandbox.ts";
import type { Heartbeat } from "../../../src/sandboxes/exec/heartbeat.ts";
import { killInSandbox } from "../../../src/sandboxes/exec/killInSandbox.ts";
import type { LaunchStreams } from "../../../src/sandboxes/exec/runLaunch.ts";
import type { LibraryCall, SandboxAccess } from "../../../src/sandboxes/exec/sandboxAccess.ts";
import { NO_ROOT } from "../../../src/sandboxes/handle/noRoot.ts";
import { removeTestIsolated } from "../../../src/sandboxes/testIsolated/directory.ts";

export type Call = LibraryCall["call"];

const PROVIDER = "library-call";

export interface LibraryCallOptions {
  /** Changes how a call goes, to what those of real services are like. Wrappers of commands have an exec id. */
  readonly disturb?: (call: Call, execId: string | undefined) => Call;
  readonly heartbeat?: Heartbeat;
}

/**
 * A process that is somewhere else, as far as whoever calls it can tell: cutting the connection ends nothing there, and
 * a call that was given up never settles.
 */
const callProcess =
  (argv: readonly string[], env: Record<string, string>): Call =>
  ({ stdin, signal, onStdoutChunk, onStderrChunk }: LaunchStreams) =>
    new Promise((resolve, reject) => {
      const [program = "sh", ...args] = argv;
      const child = spawn(program, args, { env, detached: true, stdio: "pipe" });
      const unlessCut = (deliver: (chunk: Buffer) => void) => (chunk: Buffer) => {
        if (!signal.aborted) deliver(chunk);
      };
      child.stdout.on("data", unlessCut(onStdoutChunk));
      child.stderr.on("data", unlessCut(onStderrChunk));
      child.on("error", reject);
      child.on("close", (code) => {
        if (!signal.aborted) resolve(code ?? 137);
      });
      signal.addEventListener("abort", () => {
        child.stdin.destroy();
        // Nobody waits for it; its output has to go somewhere all the same.
        child.stdout.resume();
        child.stderr.resume();
        child.unref();
      });
      const chunks = typeof stdin === "string" || stdin instanceof Uint8Array ? [Buffer.from(stdin)] : stdin;
      // A command need not read its input.
      pipeline(Readable.from(chunks, { objectMode: false }), child.stdin).catch(() => {});
    });

/** A sandbox that is reached by calls of a library, like those in clouds: a temporary directory of the host. */
export const libraryCallSandbox = async ({
  disturb = (call) => call,
  heartbeat,
}: LibraryCallOptions = {}): Promise<IsolatedSandboxHandle> => {
  const directory = await realpath(await mkdtemp(join(tmpdir(), "sanddune-library-call-")));
  const env = {
    PATH: process.env["PATH"] ?? "/usr/bin:/bin",
    HOME: directory,
    LANG: "C.UTF-8",
    [SANDBOX_VARIABLE]: basename(directory),
  };
  const launch: SandboxAccess["launch"] = (argv, { sudo, execId }) => {
    if (sudo && process.getuid?.() !== 0) throw new SandboxError(PROVIDER, NO_ROOT);
    return { call: (streams) => disturb(callProcess(argv, env), execId)(streams) };
  };
  return isolatedCommandSandbox({
    provider: PROVIDER,
    name: basename(directory),
    worktreePath: directory,
    fallbackHome: directory,
    hasTerminal: false,
    launch,
    kill: killInSandbox(launch, { ownsProcessNamespace: false }),
    diagnose: async () => ({ problem: "nobody answers", details: "It was asked." }),
    ...(heartbeat && { heartbeat }),
    close: () => removeTestIsolated(directory),
  });
};

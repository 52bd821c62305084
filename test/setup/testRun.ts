import { type ChildProcessByStdio, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chmodSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Writable } from "node:stream";
import { buildSync } from "esbuild";
import { ownIdentity } from "../../src/process/kill/processIdentity.ts";
import { findStrays, lookAround, type Machine, removeDeadRun, removeLeftovers } from "./leftovers.ts";
import { deadRuns, idOf, makeRun, RUN_VARIABLE, type Run, temporaryOf } from "./run.ts";

type Reaper = ChildProcessByStdio<Writable, null, null>;

/** In a session of its own: a signal to all processes of the terminal does not end it. */
const startReaper = (directory: string): Reaper => {
  const program = join(directory, "reaper.mjs");
  buildSync({
    entryPoints: [join(import.meta.dirname, "reaper.ts")],
    outfile: program,
    ...{ bundle: true, platform: "node", format: "esm", target: "node20.19" },
  });
  const reaper = spawn(process.execPath, [program, directory], {
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
  });
  reaper.unref();
  (reaper.stdin as Writable & { unref(): void }).unref();
  return reaper;
};

/** All that the tests write goes below one directory, so that what they leave can be found, also if they are killed. */
export class TestRun {
  private constructor(
    private readonly run: Run,
    private readonly before: Machine,
    private readonly reaper: Reaper,
  ) {}

  static async begin(runnerDirectories: readonly string[]): Promise<TestRun> {
    // Their reapers were killed, too.
    for (const run of deadRuns()) await removeDeadRun(run);
    const run = makeRun(randomBytes(3).toString("hex"), { owner: ownIdentity(), runnerDirectories });
    const reaper = startReaper(run.directory);
    mkdirSync(temporaryOf(run));
    chmodSync(temporaryOf(run), 0o1777);
    const before = await lookAround();
    process.env["TMPDIR"] = temporaryOf(run);
    process.env[RUN_VARIABLE] = idOf(run);
    return new TestRun(run, before, reaper);
  }

  /** Removes everything; if the tests have left something, says what, and fails the test runner. */
  async end(): Promise<void> {
    const left = [...(await removeLeftovers(this.run)), ...(await findStrays(this.run, this.before))];
    this.reaper.stdin.end();
    if (left.length === 0) return;
    console.error(`The tests have left behind:\n${left.map((what) => `  ${what}`).join("\n")}`);
    process.exitCode = 1;
  }
}

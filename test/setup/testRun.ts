import { type ChildProcessByStdio, spawn } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Writable } from "node:stream";
import { buildSync } from "esbuild";
import { processIsAlive } from "../helpers/waiting.ts";
import { findLeftovers, type Run, removeDeadRun, removeLeftovers, sharedThings } from "./leftovers.ts";

const PREFIX = "sanddune-run-";

/** Those of runs that were killed together with their reapers. */
const removeDeadRuns = async (): Promise<void> => {
  for (const name of readdirSync(tmpdir()).filter((entry) => entry.startsWith(PREFIX))) {
    const record = join(tmpdir(), name, "run.json");
    if (!existsSync(record)) continue;
    const run = JSON.parse(readFileSync(record, "utf8")) as Run;
    if (!processIsAlive(run.pid)) await removeDeadRun(run);
  }
};

/** In a session of its own: a signal to all processes of the terminal does not end it. */
const startReaper = (directory: string): ChildProcessByStdio<Writable, null, null> => {
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
    private readonly reaper: ChildProcessByStdio<Writable, null, null>,
  ) {}

  /** `runnerDirectories`: where the test runner has files of its own, which it removes unless it is killed. */
  static async begin(runnerDirectories: readonly string[]): Promise<TestRun> {
    await removeDeadRuns();
    const directory = mkdtempSync(join(tmpdir(), PREFIX));
    const temporary = join(directory, "tmp");
    mkdirSync(temporary);
    // Tests become other users, which use it as they use /tmp.
    chmodSync(directory, 0o755);
    chmodSync(temporary, 0o1777);
    const run: Run = {
      ...{ directory, temporary, pid: process.pid, startedAt: new Date().toISOString() },
      runnerDirectories,
      before: await sharedThings(),
    };
    writeFileSync(join(directory, "run.json"), JSON.stringify(run));
    const reaper = startReaper(directory);
    process.env["TMPDIR"] = temporary;
    return new TestRun(run, reaper);
  }

  /** Removes everything; if the tests have left something, says what, and fails the test runner. */
  async end(): Promise<void> {
    const left = await findLeftovers(this.run);
    await removeLeftovers(this.run);
    this.reaper.stdin.end();
    if (left.length === 0) return;
    console.error(`The tests have left behind:\n${left.map(({ what }) => `  ${what}`).join("\n")}`);
    process.exitCode = 1;
  }
}

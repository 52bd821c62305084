import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { runProcess } from "../../src/process/runProcess.ts";
import { waitFor } from "../helpers/processes/waiting.ts";
import { temporaryDirectory } from "../helpers/repository/repository.ts";

/** Keeps this process from doing anything else. */
const blockFor = (ms: number): void => {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
};

/** The same until the condition holds. */
const block = (condition: () => boolean): void => {
  while (!condition()) blockFor(1);
};

/** It has ended, and was not reaped yet. */
const hasEnded = (pid: number): boolean => /\) Z /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));

it("reads the complete output of a process, even if this process is busy", async () => {
  const directory = temporaryDirectory();
  const path = (name: string) => join(directory, name);
  const pids = new Map<string, number>();
  const start = (name: string, script: string, onStdoutLine?: () => void) =>
    runProcess({
      program: "sh",
      args: ["-c", script],
      cwd: directory,
      onStart: (pid) => pids.set(name, pid),
      ...(onStdoutLine && { onStdoutLine }),
    });
  const pidOf = (name: string) => pids.get(name) as number;

  const late = start("late", "until [ -e go ]; do sleep 0.01; done; echo all of it");
  const ended = start("ended", "until [ -e begin ]; do sleep 0.01; done");
  const talking = start(
    "talking",
    "until [ -e begin ]; do sleep 0.01; done; echo something; : > talked; until [ -e go ]; do sleep 0.01; done",
    () => {
      // Whoever learns now that `ended` has ended learns the same of `late`, and has not looked what that one printed.
      writeFileSync(path("go"), "");
      block(() => hasEnded(pidOf("late")));
      setImmediate(() => blockFor(600));
    },
  );
  await waitFor(() => pids.size === 3);
  writeFileSync(path("begin"), "");
  block(() => existsSync(path("talked")) && hasEnded(pidOf("ended")));

  expect(await late).toMatchObject({ exitCode: 0, stdout: "all of it\n" });
  await Promise.all([ended, talking]);
});

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { stripVTControlCharacters } from "node:util";
import { describe, expect, it } from "vitest";
import { processIsAlive, waitFor } from "../helpers/processes/waiting.ts";
import { temporaryDirectory } from "../helpers/repository/repository.ts";

const FIXTURES = join(import.meta.dirname, "fixtures");
const VITEST = join(import.meta.dirname, "../../node_modules/vitest/vitest.mjs");

interface TestRunner {
  readonly child: ChildProcess;
  readonly ended: Promise<{ readonly exitCode: number | null; readonly output: string }>;
  readonly temporary: string;
  readonly leftPidFile: string;
}

/** Runs the tests of fixtures in a test run of their own, on a machine whose two runtimes only say their names. */
const startFixtures = (
  fixtures: readonly string[],
  env: Readonly<Record<string, string>> = {},
): TestRunner => {
  const cwd = temporaryDirectory();
  const [bin, temporary, leftPidFile] = ["bin", "tmp", "left-pid"].map((name) => join(cwd, name)) as [
    string,
    string,
    string,
  ];
  mkdirSync(bin);
  mkdirSync(temporary);
  for (const name of ["bwrap", "docker"]) {
    writeFileSync(join(bin, name), `#!/bin/sh\necho "the real ${name}: $*"\n`, { mode: 0o755 });
  }
  symlinkSync("/bin/sleep", join(bin, "sleep"));
  const child = spawn(
    process.execPath,
    [
      ...[VITEST, "run", "--config", join(FIXTURES, "vitest.config.ts")],
      ...fixtures.map((name) => join(FIXTURES, `${name}.fixture.ts`)),
    ],
    {
      cwd,
      env: {
        ...process.env,
        ...{ SANDDUNE_REQUIRE_RUNTIMES: "0", TMPDIR: temporary, PATH: bin, LEFT_PID_FILE: leftPidFile },
        ...env,
      },
      stdio: ["ignore", "pipe", "pipe"],
    },
  );
  const ended = Promise.all([once(child, "close"), text(child.stdout), text(child.stderr)]).then(
    ([[exitCode], stdout, stderr]) => ({ exitCode, output: stripVTControlCharacters(stdout + stderr) }),
  );
  return { child, ended, temporary, leftPidFile };
};

const leftPid = ({ leftPidFile }: TestRunner): number => Number(readFileSync(leftPidFile, "utf8"));

it("a test that starts a runtime which it has not declared fails, whatever it makes of that", async () => {
  const inCheckout = readdirSync(FIXTURES);
  const { exitCode, output } = await startFixtures(["declaring", "undeclared"]).ended;
  expect(exitCode).toBe(1);
  expect(readdirSync(FIXTURES)).toEqual(inCheckout);
  // A declaration ends with its file, although the next one is in the same process.
  const processes = [...output.matchAll(/(declaring|undeclared) in process (\d+)/g)];
  expect(processes.map(([, file]) => file)).toEqual(["declaring", "undeclared"]);
  expect(new Set(processes.map(([, , pid]) => pid)).size).toBe(1);
  const failed = output.match(/(?<=FAIL .* > ).*/g)?.sort();
  expect(failed).toEqual([
    "after the suite that has declared it",
    "starts a container of another daemon without a word",
    "starts a sandbox without a word, and does not look at how that went",
  ]);
  expect(output).toContain(
    'has started bwrap without declaring it: wrap the test in describeWith(["bubblewrap"]',
  );
  expect(output).toContain(
    "podman is not available: podman: spawn podman ENOENT\n  undeclared.fixture.ts (1)\n",
  );
  expect(output).toContain("\n4 passed, 3 failed, 1 skipped\n");
});

describe("what tests leave behind", () => {
  it("is named and removed, and fails the run", async () => {
    const runner = startFixtures(["leaving"]);
    const { exitCode, output } = await runner.ended;
    expect(output).toContain("\n1 passed, 0 failed, 0 skipped\n");
    expect(exitCode).toBe(1);
    expect(output).toMatch(/have left behind:\n {2}process \d+: sleep 1000\n {2}\S+\/left-\w+\n/);
    expect(processIsAlive(leftPid(runner))).toBe(false);
    expect(readdirSync(runner.temporary)).toEqual([]);
  });

  it("is removed when the test runner is killed", async () => {
    const runner = startFixtures(["leaving"], { HANGS: "yes" });
    await waitFor(() => existsSync(runner.leftPidFile));
    runner.child.kill("SIGKILL");
    await waitFor(() => !processIsAlive(leftPid(runner)) && readdirSync(runner.temporary).length === 0);
    await runner.ended;
  });
});

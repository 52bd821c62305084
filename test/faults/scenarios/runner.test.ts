import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, type TestContext, test } from "vitest";
import { sandboxFlags } from "../../cli/runs/hangingRuns.ts";
import {
  makeSuite,
  readIndex,
  recordsOf,
  resultsIn,
  runScenarios,
  sh,
  spec,
} from "../../cli/scenario/scenarioSuites.ts";
import { runCliProcess, startCli } from "../../cli/startCli.ts";
import { hang } from "../../helpers/agents/agentScripts.ts";
import { waitFor } from "../../helpers/processes/waiting.ts";
import { useOwnTemporaryDirectory } from "../../helpers/repository/ownTemporaryDirectory.ts";
import { temporaryDirectory } from "../../helpers/repository/repository.ts";
import { describeWith } from "../../helpers/runtimes/runtimes.ts";

useOwnTemporaryDirectory();

/** Puts a small file system of its own at a path; skips the test where nobody may do that. */
const mountDisk = (context: TestContext, path: string, options: string): void => {
  mkdirSync(path, { recursive: true });
  const { status } = spawnSync("mount", ["-t", "tmpfs", "-o", options, "none", path]);
  if (status !== 0) context.skip("this machine does not let the user mount a tmpfs");
  onTestFinished(() => void spawnSync("umount", ["--lazy", path]));
};

const filesBelow = (path: string): string[] => readdirSync(path, { recursive: true }).map(String).sort();

test.for<readonly [string, string, RegExp]>([
  ["full", "size=64k", /no space left on device/i],
  ["read-only", "ro", /read-only file system/i],
])(
  "A scenario whose records are on a %s disk has none, and the others have theirs",
  async ([, options, reason], context) => {
    const cwd = makeSuite({ pages: { a: spec(), lost: spec(), z: spec() } });
    const disk = join(cwd, "runs/lost");
    mountDisk(context, disk, options);
    if (options !== "ro") {
      expect(() => writeFileSync(join(disk, "filler"), Buffer.alloc(1024 * 1024))).toThrow("ENOSPC");
    }
    const before = filesBelow(disk);
    const { exitCode, stdout, stderr } = await runScenarios(cwd, ["--concurrency=1"]);
    expect(exitCode).toBe(2);
    // That a disk is read-only can be seen before anything is executed.
    expect(stdout).toContain(`${options === "ro" ? 2 : 3} passing, 0 failing`);
    expect(stderr).toMatch(/^error: lost: The run records could not be written: .*runs\/lost/m);
    expect(stderr).toMatch(reason);
    expect(filesBelow(disk)).toEqual(before);
    expect([recordsOf(cwd, "a").length, recordsOf(cwd, "z").length]).toEqual([1, 1]);
    expect(Object.keys(readIndex(cwd).latest)).toEqual(["a", "z"]);
  },
);

test("Where no record can be written at all, nothing is executed, and the index of before stays", async (context) => {
  const cwd = makeSuite({ pages: { a: spec(), b: spec() } });
  await runScenarios(cwd);
  const content = readFileSync(join(cwd, "runs/index.json"), "utf8");
  const saved = join(cwd, "saved");
  execFileSync("cp", ["-r", join(cwd, "runs"), saved]);
  mountDisk(context, join(cwd, "runs"), "size=256k");
  execFileSync("cp", ["-r", `${saved}/.`, join(cwd, "runs")]);
  execFileSync("mount", ["-o", "remount,ro", join(cwd, "runs")]);
  const { exitCode, stdout, stderr } = await runScenarios(cwd, ["--json"]);
  expect(exitCode).toBe(2);
  expect(JSON.parse(stdout)).toMatchObject({ records: [], error: { name: "ScenarioRecordError" } });
  expect(stderr).toMatch(/^error: The run records could not be written: .*read-only file system/im);
  expect(stderr).not.toContain("SANDDUNE_DEBUG");
  expect(readFileSync(join(cwd, "runs/index.json"), "utf8")).toBe(content);
});

test("A project that cannot be laid out is the runner's fault, and no verdict", async (context) => {
  const cwd = makeSuite({ pages: { a: spec() }, files: { "fixtures/base/large.bin": "x".repeat(300_000) } });
  const small = temporaryDirectory();
  mountDisk(context, small, "size=400k");
  const { exitCode, stderr } = await runScenarios(cwd, [], { env: { TMPDIR: small } });
  expect(exitCode).toBe(2);
  expect(stderr).toMatch(/ENOSPC|no space left/i);
  expect(resultsIn(cwd)).toEqual({});
  expect(readdirSync(small)).toEqual([]);
});

test("A project that cannot be removed is reported, and the others are executed", async (context) => {
  const disk = temporaryDirectory();
  if (spawnSync("chattr", ["+i", disk]).status !== 0) context.skip("nothing can be made immutable here");
  spawnSync("chattr", ["-i", disk]);
  onTestFinished(() => void spawnSync("chattr", ["-R", "-i", disk]));
  const cwd = makeSuite({
    pages: { a: spec({ steps: [{ cmd: ["chattr", "+i", "base.txt"] }] }), b: spec() },
  });
  const options = { env: { TMPDIR: disk } };
  // In a process of its own: the next one removes what belongs to nobody.
  const run = ["scenario", "run", "--concurrency=1"];
  const { exitCode, stderr } = await runCliProcess(run, { cwd, ...options });
  expect(exitCode).toBe(2);
  expect(stderr).toMatch(/^error: a: The project directory could not be removed: .*base\.txt.*rm -rf .*-a$/m);
  expect(resultsIn(cwd)).toEqual({ a: "passing", b: "passing" });
  execFileSync("chattr", ["-R", "-i", disk]);
  await runScenarios(cwd, ["--only=b"], options);
  expect(readdirSync(disk)).toEqual([]);
});

describeWith(["docker"], "With containers", () => {
  test("a sandbox that is lost in the middle is not a verdict, and the others continue", async () => {
    const [byTool, byAgent] = [hang(), hang()];
    const cwd = makeSuite({
      pages: {
        "a-tool": spec({ steps: [sh(byTool.line)] }),
        "b-agent": spec({ runnable: "agent", steps: [{ agent: "work", prompt: byAgent.line }] }),
        "c-good": spec(),
      },
    });
    const temporary = temporaryDirectory();
    const flags = [
      "--runnable=any",
      "--concurrency=2",
      "--agent-command",
      "sh -s",
      ...sandboxFlags("docker"),
    ];
    const { child, result } = startCli(["scenario", "run", ...flags], { cwd, env: { TMPDIR: temporary } });
    onTestFinished(() => void child.kill("SIGKILL"));
    await waitFor(() => (byTool.isThere() && byAgent.isThere()) || child.exitCode !== null);
    const names = readdirSync(temporary)
      .map((name) => join(temporary, name, "sandboxes.jsonl"))
      .filter((file) => existsSync(file))
      .flatMap((file) => readFileSync(file, "utf8").trim().split("\n"))
      .map((line) => JSON.parse(line).sandboxName as string);
    execFileSync("docker", ["rm", "--force", ...names], { stdio: "ignore" });
    const { exitCode, stdout, stderr } = await result;
    expect(exitCode).toBe(2);
    for (const id of ["a-tool", "b-agent"]) {
      expect(stderr).toMatch(new RegExp(`^error: ${id}: .*(sandbox|container)`, "im"));
    }
    expect(resultsIn(cwd)).toEqual({ "c-good": "passing" });
    expect(stdout).toContain("1 passing, 0 failing, 0 manual, 2 problems");
    expect(readdirSync(temporary)).toEqual([]);
  });
});

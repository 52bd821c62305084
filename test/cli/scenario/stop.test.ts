import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { hang } from "../../helpers/agents/agentScripts.ts";
import { processesWith } from "../../helpers/processes/processes.ts";
import { waitFor } from "../../helpers/processes/waiting.ts";
import { useOwnTemporaryDirectory } from "../../helpers/repository/ownTemporaryDirectory.ts";
import { temporaryDirectory } from "../../helpers/repository/repository.ts";
import { describeWith } from "../../helpers/runtimes/runtimes.ts";
import { type SandboxFlag, sandboxFlags } from "../runs/hangingRuns.ts";
import { startCli } from "../startCli.ts";
import { makeSuite, readIndex, resultsIn, runScenarios, sh, spec } from "./scenarioSuites.ts";

useOwnTemporaryDirectory();

type Place = SandboxFlag | "host";

const flagsFor = (place: Place): string[] => (place === "host" ? [] : sandboxFlags(place));

/** Starts three scenarios, one after the other; resolves once the second one hangs, with a process that hides from it. */
const startHanging = async (place: Place) => {
  const shown = hang();
  const hidden = hang();
  const cwd = makeSuite({
    pages: {
      "a-done": spec(),
      "b-hangs": spec({ steps: [sh(`setsid ${hidden.line} & ${shown.line}`)] }),
      "c-never": spec(),
    },
  });
  const temporary = temporaryDirectory();
  const options = { cwd, env: { TMPDIR: temporary } };
  const { child, result } = startCli(["scenario", "run", "--concurrency=1", ...flagsFor(place)], options);
  onTestFinished(() => {
    child.kill("SIGKILL");
    for (const { line } of [shown, hidden]) {
      for (const pid of processesWith(`${line.replace(" ", "\0")}\0`)) process.kill(Number(pid), "SIGKILL");
    }
  });
  const isAnyAlive = () => shown.isThere() || hidden.isThere();
  await waitFor(() => (shown.isThere() && hidden.isThere()) || child.exitCode !== null);
  if (child.exitCode !== null) throw new Error(`it has ended: ${JSON.stringify(await result)}`);
  return { cwd, options, temporary, child, result, isAnyAlive };
};

const expectStopped = async (place: Place, signal: NodeJS.Signals, exitCode: number): Promise<void> => {
  const { cwd, temporary, child, result, isAnyAlive } = await startHanging(place);
  child.kill(signal);
  expect(await result).toMatchObject({
    exitCode,
    stderr: expect.stringContaining("Records that were written by then are kept."),
  });
  expect(isAnyAlive()).toBe(false);
  expect(readdirSync(temporary)).toEqual([]);
  expect(resultsIn(cwd)).toEqual({ "a-done": "passing" });
  expect(Object.keys(readIndex(cwd).latest)).toEqual(["a-done"]);
};

test("Stopped by Ctrl-C, nothing runs any more, no project is left, and what was over is recorded", () =>
  expectStopped("host", "SIGINT", 130));

describeWith(["bubblewrap"], "Stopped by SIGTERM, with bubblewrap", () => {
  test("nothing runs any more, no project is left, and what was over is recorded", () =>
    expectStopped("bubblewrap", "SIGTERM", 143));
});

const containerNames = (temporary: string): string[] =>
  readdirSync(temporary).flatMap((name) => {
    const file = join(temporary, name, "sandboxes.jsonl");
    if (!existsSync(file)) return [];
    const lines = readFileSync(file, "utf8").trim().split("\n");
    return lines.map((line) => JSON.parse(line).sandboxName as string);
  });

const exists = (engine: string, name: string): boolean =>
  spawnSync(engine, ["container", "inspect", name], { stdio: "ignore" }).status === 0;

const expectRemoved = async (place: Place): Promise<void> => {
  const { temporary, options, cwd, child, result, isAnyAlive } = await startHanging(place);
  child.kill("SIGKILL");
  await result;
  const left = readdirSync(temporary);
  const containers = place === "docker" ? containerNames(temporary) : [];
  for (const name of containers) {
    onTestFinished(() => void spawnSync(place, ["rm", "--force", name], { stdio: "ignore" }));
  }
  expect(left).not.toEqual([]);
  expect(containers.filter((name) => exists(place, name))).toHaveLength(containers.length === 0 ? 0 : 1);
  expect(await runScenarios(cwd, ["--only=c-never"], options)).toMatchObject({ exitCode: 0 });
  expect(readdirSync(temporary)).toEqual([]);
  expect(containers.filter((name) => exists(place, name))).toEqual([]);
  await waitFor(() => !isAnyAlive());
  expect(resultsIn(cwd)).toEqual({ "a-done": "passing", "c-never": "passing" });
};

for (const place of ["bubblewrap", "docker"] as const) {
  describeWith([place], `A runner that is killed in the middle, with ${place}`, () => {
    test("leaves things that the next one removes", () => expectRemoved(place));
  });
}

test("A runner that is killed in the middle, without a sandbox, leaves things that the next one removes", () =>
  expectRemoved("host"));

import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { hostSystem } from "../../../src/process/host/system.ts";
import { ownIdentity } from "../../../src/process/kill/processIdentity.ts";
import { testIsolated } from "../../../src/sandboxes/test-isolated.ts";
import { waitFor } from "../../helpers/processes/waiting.ts";
import { temporaryDirectory, temporaryRepository } from "../../helpers/repository/repository.ts";
import { begun, entry, RUN_ID, runDirectory } from "../../runs/journal/journals.ts";
import { play } from "../../security/support.ts";
import { runCli } from "../callCli.ts";
import { startCli } from "../startCli.ts";
import { playHangingRun } from "./ownHangingRuns.ts";

const logs = (cwd: string, ...args: string[]) => runCli(["logs", ...args], { cwd });
const logOf = (cwd: string, runId: string): string => join(cwd, ".sanddune/logs", `${runId}.log`);

/** A journal and a log; the process of the run is this one, unless something else is said. */
const plantLog = (content: string, begins: object = {}): string => {
  const cwd = temporaryRepository();
  const logFilePath = logOf(cwd, RUN_ID);
  mkdirSync(join(cwd, ".sanddune/logs"), { recursive: true });
  writeFileSync(logFilePath, content);
  runDirectory([begun({ logFilePath, ...begins })], join(cwd, ".sanddune/runs"));
  return cwd;
};

/** Follows a log; resolves once it has shown something, with what ends when following does. */
const follow = async (cwd: string, runId: string, expected: string): Promise<() => Promise<string>> => {
  const { child, result } = startCli(["logs", "-f", runId], { cwd });
  let shown = "";
  child.stdout?.on("data", (data: Buffer) => {
    shown += data.toString();
  });
  await waitFor(() => shown.includes(expected));
  expect(child.exitCode).toBeNull();
  return async () => {
    expect((await result).exitCode).toBe(0);
    return shown;
  };
};

describe("sanddune logs", () => {
  it("prints the whole run log, found by id, by its end or by name", async () => {
    const cwd = temporaryRepository();
    const { runId, logFilePath = "" } = await play(cwd, [{ text: "Hello" }], {
      name: "nightly",
      sandbox: testIsolated(),
    });
    const log = readFileSync(logFilePath, "utf8");
    expect(log).toContain("Hello");
    for (const wanted of [runId, runId.slice(-6), "nightly"]) {
      expect(await logs(cwd, wanted)).toEqual({ exitCode: 0, stdout: log, stderr: "" });
    }
  });

  it("with --follow continues until the run ends", async () => {
    const cwd = temporaryRepository();
    const { runId, abort, ended } = await playHangingRun(cwd, { script: "echo 'at work'" });
    const followed = await follow(cwd, runId, "at work");
    abort();
    await ended;
    expect(await followed()).toBe(readFileSync(logOf(cwd, runId), "utf8"));
  });

  it("with --follow continues until the run dies", async () => {
    const owner = spawn("sleep", ["600"]);
    onTestFinished(() => void owner.kill("SIGKILL"));
    const pid = owner.pid ?? 0;
    const identity = { ...ownIdentity(), pid, startTime: hostSystem().findProcess(pid)?.startTime };
    const cwd = plantLog("at work\n", { owner: identity });
    const followed = await follow(cwd, RUN_ID, "at work");
    owner.kill("SIGKILL");
    expect(await followed()).toBe("at work\n");
  });

  it("of a run whose journal names no log says that there is none", async () => {
    const cwd = temporaryRepository();
    runDirectory([begun(), entry("ended", { state: "succeeded" })], join(cwd, ".sanddune/runs"));
    const { exitCode, stdout, stderr } = await logs(cwd, RUN_ID);
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
    expect(stderr).toContain("has no run log");
  });
});

describe("sanddune logs of a log that", () => {
  it.each([
    ["was deleted", (path: string) => rmSync(path)],
    [
      "is a link",
      (path: string) => {
        const target = join(temporaryDirectory(), "secret");
        writeFileSync(target, "not for you");
        rmSync(path);
        symlinkSync(target, path);
      },
    ],
  ])("%s says which file is missing, and shows nothing else", async (_, change) => {
    const cwd = plantLog("line\n");
    const path = logOf(cwd, RUN_ID);
    change(path);
    for (const flags of [[], ["--follow"]]) {
      const { exitCode, stdout, stderr } = await logs(cwd, RUN_ID, ...flags);
      expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
      expect(stderr).toBe(`error: The run log of ${RUN_ID} no longer exists: ${path}\n`);
    }
  });

  it("would steer the terminal shows how", async () => {
    const cwd = plantLog("\u001b]0;title\u0007 and \u009b2J, \ttabs\nand lines\r\n");
    expect((await logs(cwd, RUN_ID)).stdout).toBe(
      "\\u001b]0;title\\u0007 and \\u009b2J, \ttabs\nand lines\\u000d\n",
    );
  });

  it("is larger than a piece keeps characters whole that are not of one byte", async () => {
    const content = `x${"漢字👍".repeat(50_000)}\n`;
    expect((await logs(plantLog(content), RUN_ID)).stdout).toBe(content);
  });

  it("ends when the reader closes its output", async () => {
    // A run of this process, which goes on: only the reader can end it.
    const cwd = plantLog("line\n".repeat(200_000));
    const { child, result } = startCli(["logs", "--follow", RUN_ID], { cwd });
    child.stdout?.once("data", () => child.stdout?.destroy());
    const { exitCode, stderr } = await result;
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
  });

  it("is empty prints nothing", async () => {
    expect(await logs(plantLog(""), RUN_ID)).toEqual({ exitCode: 0, stdout: "", stderr: "" });
  });

  it("is of no run says where to look", async () => {
    const cwd = temporaryRepository();
    const { exitCode, stderr } = await logs(cwd, "nobody");
    expect(exitCode).toBe(1);
    expect(stderr).toContain("sanddune ps --all");
    expect(existsSync(join(cwd, ".sanddune"))).toBe(false);
  });
});

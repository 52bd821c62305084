import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryDirectory, temporaryRepository } from "../helpers/repository.ts";
import { describeWith } from "../helpers/runtimes.ts";
import { waitFor } from "../helpers/waiting.ts";
import { begun, RUN_ID } from "../runs/journals.ts";
import { play } from "../security/support.ts";
import { deadRun, startHangingRun } from "./hangingRuns.ts";
import { runCli, startCli } from "./startCli.ts";

const logs = (cwd: string, ...args: string[]) => runCli(["logs", ...args], { cwd });
const logOf = (cwd: string, runId: string): string => join(cwd, ".sanddune/logs", `${runId}.log`);

describeWith(["bubblewrap"], "sanddune logs", () => {
  it("prints the whole run log, found by id, by its end or by name", async () => {
    const cwd = temporaryRepository();
    const { runId, logFilePath = "" } = await play(cwd, [{ text: "Hello" }], { name: "nightly" });
    const log = readFileSync(logFilePath, "utf8");
    expect(log).toContain("Hello");
    for (const wanted of [runId, runId.slice(-6), "nightly"]) {
      expect(await logs(cwd, wanted)).toEqual({ exitCode: 0, stdout: log, stderr: "" });
    }
  });

  it.each([
    ["ends", "SIGTERM"],
    ["dies", "SIGKILL"],
  ] as const)("with --follow goes on until the run %s", async (_, signal) => {
    const run = await startHangingRun({ script: "echo 'at work'" });
    const { cwd, runId } = run;
    const { child, result } = startCli(["logs", "-f", runId], { cwd });
    let shown = "";
    child.stdout?.on("data", (data: Buffer) => {
      shown += data.toString();
    });
    await waitFor(() => shown.includes("at work"));
    expect(child.exitCode).toBeNull();
    run.child.kill(signal);
    await run.result;
    expect((await result).exitCode).toBe(0);
    expect(shown).toBe(readFileSync(logOf(cwd, runId), "utf8"));
  });

  it("of a run that was shown at a terminal says that there is none, and how to get one", async () => {
    const cwd = temporaryRepository();
    const { runId } = await play(cwd, [], { logging: { type: "stdout" } });
    const { exitCode, stdout, stderr } = await logs(cwd, runId);
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
    expect(stderr).toContain("sanddune run --logging file");
  });

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
  ])("that %s says which file is missing, and shows nothing else", async (_, change) => {
    const { cwd, runId } = await deadRun();
    change(logOf(cwd, runId));
    for (const flags of [[], ["--follow"]]) {
      const { exitCode, stdout, stderr } = await logs(cwd, runId, ...flags);
      expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
      expect(stderr).toBe(`error: The run log of ${runId} is not there any more: ${logOf(cwd, runId)}\n`);
    }
  });
});

describe("sanddune logs of a log that", () => {
  const plantLog = (content: string): string => {
    const cwd = temporaryRepository();
    const logFilePath = logOf(cwd, RUN_ID);
    mkdirSync(join(cwd, ".sanddune/logs"), { recursive: true });
    mkdirSync(join(cwd, ".sanddune/runs", RUN_ID), { recursive: true });
    writeFileSync(logFilePath, content);
    writeFileSync(
      join(cwd, ".sanddune/runs", RUN_ID, "journal.jsonl"),
      `${JSON.stringify(begun({ logFilePath }))}\n`,
    );
    return cwd;
  };

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

  it("nobody wants to read to its end ends there", async () => {
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

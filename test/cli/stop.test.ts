import { randomInt } from "node:crypto";
import { readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryDirectory } from "../helpers/repository.ts";
import { describeWith } from "../helpers/runtimes.ts";
import { OBEDIENT_AGENT, processesWith, repositoryWithAgent, subjectsOf, until } from "./fixtures.ts";
import { startCli } from "./startCli.ts";

const RUN = [
  "run",
  "--agent-command",
  "sh ./agent.sh",
  "--sandbox",
  "bubblewrap",
  "--branch",
  "b",
  "--prompt",
  "Fix it",
];

/** Starts a run whose agent commits, then hangs in `sleep <seconds>`; resolves once it does. */
const startHangingRun = async (env: Readonly<Record<string, string>> = {}) => {
  const seconds = String(randomInt(1_000_000, 9_000_000));
  const cwd = repositoryWithAgent(`${OBEDIENT_AGENT}\nsleep ${seconds}\n`);
  const { child, result } = startCli([...RUN, "--json"], { cwd, env });
  const isHanging = () => processesWith(`sleep\0${seconds}\0`).length > 0;
  await until("the agent hangs", () => isHanging() || child.exitCode !== null);
  return { cwd, child, result, mark: `sleep\0${seconds}\0` };
};

describeWith(["bubblewrap"], "stopping sanddune run", () => {
  for (const [signal, expected] of [
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ] as const) {
    test(`${signal} ends the agent, keeps its commits and exits with ${expected}`, async () => {
      const { cwd, child, result, mark } = await startHangingRun();
      child.kill(signal);
      const { exitCode, stdout, stderr } = await result;
      expect(exitCode).toBe(expected);
      expect(stderr).toContain(signal);
      expect(JSON.parse(stdout).error).toMatchObject({ name: "StoppedError", signal });
      expect(processesWith(mark)).toEqual([]);
      expect(subjectsOf(cwd, "b")[0]).toBe("Do what was asked");
      expect(readdirSync(join(cwd, ".git/sanddune/locks"))).toEqual([]);
    });
  }

  test("a second SIGINT does not wait for the tidying up", async () => {
    const bin = temporaryDirectory();
    const blocker = join(bin, "blocked");
    const path = process.env["PATH"];
    // Tidying up takes git, which never comes back once the file is there.
    const script = `#!/bin/sh\nPATH=${path}\nwhile [ -e ${blocker} ]; do sleep 0.1; done\nexec git "$@"\n`;
    writeFileSync(join(bin, "git"), script, { mode: 0o755 });
    const { child, result } = await startHangingRun({ PATH: `${bin}:${path}` });
    writeFileSync(blocker, "");
    const again = setInterval(() => child.kill("SIGINT"), 50);
    const { exitCode, stdout } = await result;
    clearInterval(again);
    rmSync(blocker);
    expect({ exitCode, stdout }).toEqual({ exitCode: 130, stdout: "" });
    await until("git has gone", () => processesWith(bin).length === 0);
  });

  test("a reader of stdout that has gone is no failure", async () => {
    const cwd = repositoryWithAgent(OBEDIENT_AGENT);
    const { child, result } = startCli([...RUN, "--json"], { cwd });
    child.stdout?.destroy();
    const { exitCode, stderr } = await result;
    expect(exitCode).toBe(0);
    expect(stderr).not.toMatch(/EPIPE|^\s+at /m);
    expect(subjectsOf(cwd, "b")[0]).toBe("Do what was asked");
  });
});

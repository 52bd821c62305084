import { execFile } from "node:child_process";
import { expect, it } from "vitest";
import { inPseudoTerminal } from "../../../src/sandboxes/exec/pseudoTerminal.ts";
import { temporaryDirectory } from "../../helpers/repository/repository.ts";

/** Runs a program in a terminal of its own. */
const runIn = (args: readonly string[], env: Record<string, string> = {}) =>
  new Promise<{ exitCode: number; printed: string }>((resolve) => {
    const launch = inPseudoTerminal({
      program: "sh",
      args,
      env: { PATH: process.env["PATH"] ?? "", ...env },
    });
    const child = execFile(
      launch.program,
      launch.args,
      { env: launch.env as NodeJS.ProcessEnv, cwd: temporaryDirectory(), encoding: "utf8" },
      (error, printed) => resolve({ exitCode: error === null ? 0 : Number(error.code), printed }),
    );
    child.stdin?.end();
  });

const script = (text: string) => ["-c", text];

it("a program in a pseudo terminal has one on all its streams", async () => {
  const { printed } = await runIn(script("test -t 0 && test -t 1 && test -t 2 && echo yes"));
  expect(printed).toContain("yes");
});

it("its terminal is not shared", async () => {
  const { printed } = await runIn(script("tty; ps -o tty= -p $$ 2>/dev/null"));
  expect(printed).toMatch(/^\/dev\/pts\/\d+/);
});

it.each([0, 1, 3, 126, 255])("its exit code %d is passed on", async (exitCode) => {
  expect((await runIn(script(`exit ${exitCode}`))).exitCode).toBe(exitCode);
});

it("its arguments arrive exactly, whatever is in them", async () => {
  const hostile = ["it's", '"$(id)"', "a;b|c", "two\nlines", "", "-x", "*", "\\", "🏜"];
  const { printed } = await runIn([
    ...script('for argument; do printf "<%s>" "$argument"; done'),
    "sh",
    ...hostile,
  ]);
  expect(printed.replaceAll("\r\n", "\n")).toBe(hostile.map((argument) => `<${argument}>`).join(""));
});

it.each(["/bin/false", "/nowhere/at/all", "relative; touch canary"])(
  "a login shell like %s has no part in it",
  async (shell) => {
    expect((await runIn(script("echo started"), { SHELL: shell })).printed).toContain("started");
  },
);

it("its environment is the one that it was given", async () => {
  const { printed } = await runIn(script('echo "<$GREETING>"'), { GREETING: "hello" });
  expect(printed).toContain("<hello>");
});

it("nothing of it is on disk", async () => {
  const { printed } = await runIn(script("ls -A"));
  expect(printed).toBe("");
});

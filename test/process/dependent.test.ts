import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { type DependentSpec, startDependent } from "../../src/process/dependent.ts";
import { processIsAlive, waitFor } from "../helpers/processes/waiting.ts";
import { temporaryDirectory } from "../helpers/repository/repository.ts";

const start = (line: string, spec: Partial<DependentSpec> = {}) => {
  const cwd = temporaryDirectory();
  const dependent = startDependent({
    program: "sh",
    args: ["-c", line],
    cwd,
    env: process.env,
    graceMs: 100,
    ...spec,
  });
  onTestFinished(() => dependent.end());
  const pid = (name: string): number => {
    try {
      return Number(readFileSync(join(cwd, name), "utf8"));
    } catch {
      return 0;
    }
  };
  return { dependent, pid };
};

it("is ended with everything that it started, even processes that left its group or ignore SIGTERM", async () => {
  const { dependent, pid } = start(
    `trap '' TERM
    sh -c 'trap "" TERM; echo $$ > child; sleep 1015; sleep 1016' &
    setsid sh -c 'sh -c "echo \\$\\$ > daemon; exec sleep 1017" & exit' &
    echo $$ > self; wait; wait`,
  );
  const names = ["self", "child", "daemon"];
  await waitFor(() => names.every((name) => pid(name) > 0));
  await dependent.end();
  await dependent.end();
  expect(names.map((name) => processIsAlive(pid(name)))).toEqual([false, false, false]);
});

it("has a message channel besides its output", async () => {
  const messages: string[] = [];
  const { dependent } = start(
    'echo noise; read -r line <&3; echo "got $line" >&3; echo more noise >&2; exit 5',
    {
      onMessage: (line) => messages.push(line),
    },
  );
  dependent.send("hello");
  expect(await dependent.exited).toBe(5);
  expect(messages).toEqual(["got hello"]);
  expect(dependent.output().split("\n").sort()).toEqual(["", "more noise", "noise"]);
});

it("has exited although its children still run, and bounds their output", async () => {
  const { dependent, pid } = start("(yes & echo $! > background) & exit 3");
  expect(await dependent.exited).toBe(3);
  await waitFor(() => pid("background") > 0);
  expect(processIsAlive(pid("background"))).toBe(true);
  expect(dependent.output().length).toBeLessThanOrEqual(16 * 1024);
  await dependent.end();
  expect(processIsAlive(pid("background"))).toBe(false);
});

it("has exited if it cannot be started", async () => {
  const { dependent } = start("", { program: "/nonexistent/program" });
  expect(await dependent.exited).toBe(127);
  expect(dependent.output()).toContain("not found");
  const nowhere = start("true", { cwd: join(temporaryDirectory(), "gone") });
  expect(await nowhere.dependent.exited).toBe(127);
});

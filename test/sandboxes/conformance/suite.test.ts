import { AssertionError } from "node:assert";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { ExecResult, IsolatedSandboxHandle } from "../../../src/sandboxes/contract.ts";
import { testIsolated } from "../../../src/sandboxes/test-isolated.ts";
import { type ConformanceSuite, sandboxConformance } from "../../../src/testing.ts";
import { waitFor } from "../../helpers/processes/waiting.ts";
import { openIsolated } from "../openSandbox.ts";

/** A provider that is watched: what it has opened and closed, and which commands it was given. */
const watched = (alter: (sandbox: IsolatedSandboxHandle) => Partial<IsolatedSandboxHandle> = () => ({})) => {
  const opened: IsolatedSandboxHandle[] = [];
  const commands: string[] = [];
  let closed = 0;
  const open = async (): Promise<IsolatedSandboxHandle> => {
    const sandbox = await openIsolated(testIsolated());
    onTestFinished(() => sandbox.close());
    opened.push(sandbox);
    const handle = {
      ...sandbox,
      close: () => {
        closed++;
        return sandbox.close();
      },
      ...alter(sandbox),
    };
    return {
      ...handle,
      exec: (command, options) => {
        commands.push(command);
        return handle.exec(command, options);
      },
    };
  };
  return { open, opened, commands, closed: () => closed };
};

const runCase = ({ cases }: ConformanceSuite, name: string): Promise<void> => {
  const found = cases.find((conformanceCase) => conformanceCase.name === name);
  if (found === undefined) throw new Error(`there is no case "${name}"`);
  return found.run();
};

const EXIT_CODES = "exit codes are passed on";
const MISSING_PROGRAM = "a missing program is exit code 127, not a lost sandbox";
/** These make files, and look for some that must not be there. */
const MAKES_DIRECTORY = "commands start in the worktree, or in cwd";
const MISSING_CWD = "a missing cwd is a failed command, not a lost sandbox";
const ABORTED_SIGNAL = "a signal that is aborted already starts nothing";

/** Of the first sandbox, every exit code is wrong. */
const firstIsBroken = () => {
  let count = 0;
  return ({ exec }: IsolatedSandboxHandle): Partial<IsolatedSandboxHandle> => {
    if (count++ > 0) return {};
    return {
      exec: async (...args): Promise<ExecResult> => ({ ...(await exec(...args)), exitCode: 0 }),
    };
  };
};

test("a case that fails does not pass its sandbox on to the next one", async () => {
  const { open, opened, closed } = watched(firstIsBroken());
  const suite = sandboxConformance(open);
  await expect(runCase(suite, EXIT_CODES)).rejects.toThrow(AssertionError);
  expect(closed()).toBe(1);
  await runCase(suite, MISSING_PROGRAM);
  await runCase(suite, EXIT_CODES);
  expect(opened).toHaveLength(2);
  await suite.close();
});

test("the error of a case is what is seen, although its sandbox cannot be closed either", async () => {
  const alter = firstIsBroken();
  const { open } = watched((sandbox) => ({
    ...alter(sandbox),
    close: () => Promise.reject(new Error("it cannot be closed")),
  }));
  const suite = sandboxConformance(open);
  await expect(runCase(suite, EXIT_CODES)).rejects.toThrow(AssertionError);
  await runCase(suite, MISSING_PROGRAM);
  await expect(suite.close()).rejects.toThrow("it cannot be closed");
});

test("cases in turn share a sandbox, which is empty for each of them", async () => {
  const { open, opened } = watched();
  const suite = sandboxConformance(open);
  for (const name of [MAKES_DIRECTORY, MISSING_CWD, ABORTED_SIGNAL, MAKES_DIRECTORY])
    await runCase(suite, name);
  expect(opened).toHaveLength(1);
  await suite.close();
  await suite.close();
  expect(opened.map(({ worktreePath }) => existsSync(worktreePath))).toEqual([false]);
});

test("a case beside one that hangs has a sandbox of its own, and close does not wait for the other", async () => {
  let isFirst = true;
  const { open, opened, closed } = watched(({ exec }) => ({
    exec: (command, options) => {
      if (command === "ls -A" || !isFirst) return exec(command, options);
      isFirst = false;
      return new Promise(() => {});
    },
  }));
  const suite = sandboxConformance(open);
  void runCase(suite, EXIT_CODES);
  await waitFor(() => !isFirst);
  await runCase(suite, EXIT_CODES);
  expect(closed()).toBe(1);
  await suite.close();
  expect(opened.map(({ worktreePath }) => existsSync(worktreePath))).toEqual([false, false]);
});

test("a worktree with something in it is refused, and left as it is", async () => {
  const { open, commands, closed } = watched();
  const suite = sandboxConformance(async () => {
    const sandbox = await open();
    writeFileSync(join(sandbox.worktreePath, ".hidden"), "");
    return sandbox;
  });
  await expect(runCase(suite, EXIT_CODES)).rejects.toThrow(
    "open() has to give the cases an empty worktree, since they delete what is in it. There is: .hidden",
  );
  expect(commands).toEqual(["ls -A"]);
  expect(closed()).toBe(1);
});

test("close has nothing to do if no case has run", async () => {
  const { open, opened } = watched();
  await sandboxConformance(open).close();
  expect(opened).toEqual([]);
});

test("a provider that cannot open a sandbox fails each case with its error", async () => {
  const problem = new Error("there is no room");
  let attempts = 0;
  const suite = sandboxConformance(() => {
    attempts++;
    return Promise.reject(problem);
  });
  for (const { run } of suite.cases) await expect(run()).rejects.toBe(problem);
  expect(attempts).toBe(suite.cases.length);
  await suite.close();
});

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { expect, it, onTestFinished } from "vitest";
import { killMarked, killMarkedNow } from "../../../src/process/kill/killMarked.ts";
import { killExecArguments } from "../../../src/process/kill/killScript.ts";
import { EXEC_ID_VARIABLE } from "../../../src/process/kill/processMarks.ts";
import { waitFor } from "../../helpers/processes/waiting.ts";

const EXEC_ID = "a".repeat(32);

const started = (args: readonly string[]): ChildProcess => {
  const child = spawn("/usr/bin/env", args, { stdio: ["pipe", "ignore", "ignore"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  return child;
};

const environmentOf = (child: ChildProcess): string => readFileSync(`/proc/${child.pid}/environ`, "utf8");

/**
 * A process without an environment, as one is in the middle of an exec. It gets one, with the mark, as soon as it has read its input,
 * which is while the caller looks for marks.
 */
const markedSoon = async (id: string): Promise<ChildProcess> => {
  const script = `read -r _; exec /usr/bin/env ${EXEC_ID_VARIABLE}=${id} sleep 1000`;
  const child = started(["-i", "/bin/sh", "-c", script]);
  await waitFor(() => environmentOf(child) === "");
  child.stdin?.write("\n");
  return child;
};

const WAYS: [string, (id: string) => void | Promise<void>][] = [
  ["in this process", (id) => killMarked({ name: EXEC_ID_VARIABLE, value: id })],
  ["in this process, at once", (id) => killMarkedNow({ name: EXEC_ID_VARIABLE, value: id })],
  [
    "by the script",
    async (id) => {
      const [program = "", ...args] = killExecArguments(id, {
        ownsProcessNamespace: false,
        mayStillStart: false,
      });
      await once(spawn(program, args, { stdio: "ignore" }), "exit");
    },
  ],
];

it.each(WAYS)("a process whose mark appears after its exec is killed %s", async (_, kill) => {
  const victim = await markedSoon(EXEC_ID);
  const death = once(victim, "exit");
  await kill(EXEC_ID);
  expect(await death).toEqual([null, "SIGKILL"]);
});

it.each(WAYS)("an unmarked process without an environment survives, %s", async (_, kill) => {
  const bystander = started(["-i", "/bin/sleep", "1000"]);
  await waitFor(() => environmentOf(bystander) === "");
  await kill("b".repeat(32));
  expect(bystander.exitCode ?? bystander.signalCode).toBeNull();
});

import { readFileSync, rmSync } from "node:fs";
import { findStrayThings, ownThingsNow, removeContainers } from "./leftoverContainers.ts";
import { findStrayFiles, removeFiles, unmountAll } from "./leftoverFiles.ts";
import { endProcesses } from "./leftoverProcesses.ts";
import type { Run } from "./run.ts";

const users = (): string[] =>
  readFileSync("/etc/passwd", "utf8")
    .split("\n")
    .map((line) => line.split(":")[0] ?? "");

/** What the tests share with others on this machine. */
export interface Machine {
  readonly seenAt: Date;
  readonly users: readonly string[];
  readonly things: ReadonlySet<string>;
}

export const lookAround = async (): Promise<Machine> => ({
  seenAt: new Date(),
  users: users(),
  things: await ownThingsNow(),
});

/** Goes through all steps, whatever happens in one of them. */
const collect = async (steps: readonly (() => string[] | Promise<string[]>)[]): Promise<string[]> => {
  const found: string[] = [];
  for (const step of steps) {
    try {
      found.push(...(await step()));
    } catch (error) {
      found.push(String(error));
    }
  }
  return found;
};

/** Removes all that the tests of the run have left, processes first: they could make more. Tells what that was. */
export const removeLeftovers = (run: Run): Promise<string[]> =>
  collect([
    () => endProcesses(run),
    () => removeContainers(run),
    () => unmountAll(run),
    () => removeFiles(run),
  ]);

/** The same for a test runner that is dead. */
export const removeDeadRun = async (run: Run): Promise<void> => {
  await removeLeftovers(run);
  for (const path of run.runnerDirectories) rmSync(path, { recursive: true, force: true });
};

/** What has changed on the machine, and does not say that it is of this run. */
export const findStrays = (run: Run, before: Machine): Promise<string[]> =>
  collect([
    () => findStrayThings(run, before.things),
    () => findStrayFiles(run, before.seenAt),
    () =>
      users()
        .filter((user) => !before.users.includes(user))
        .map((user) => `user ${user}`),
  ]);

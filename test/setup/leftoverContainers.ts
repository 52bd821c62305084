import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { idOf, otherRuns, type Run } from "./run.ts";

const execute = promisify(execFile);

/** Lines of an engine's answer; `undefined` if it does not answer. */
const ask = async ([program = "", ...args]: readonly string[]): Promise<string[] | undefined> => {
  try {
    const { stdout } = await execute(program, args, { cwd: "/", maxBuffer: 2 ** 26, timeout: 30_000 });
    return stdout.split("\n").filter(Boolean);
  } catch {
    return undefined;
  }
};

/** Docker, Podman, and the Podman of the tests' ordinary user. */
const engines = (): string[][] => {
  const asTestUser = process.env["SANDDUNE_AS_TEST_USER"];
  return [["docker"], ["podman"], ...(asTestUser === undefined ? [] : [[asTestUser, "podman"]])];
};

const LISTS: Readonly<Record<string, readonly string[]>> = {
  container: ["ps", "--all", "--format", "{{.Names}}"],
  image: ["image", "ls", "--format", "{{.Repository}}:{{.Tag}}"],
  volume: ["volume", "ls", "--format", "{{.Name}}"],
  network: ["network", "ls", "--format", "{{.Name}}"],
};

interface Thing {
  readonly engine: readonly string[];
  readonly kind: string;
  readonly name: string;
}

const describe = ({ engine, kind, name }: Thing): string => `${engine.join(" ")} ${kind} ${name}`;

/** What the engines have under our name. Engines that do not answer are left out. */
const ownThings = async (): Promise<Thing[]> => {
  const asked = engines().flatMap((engine) =>
    Object.entries(LISTS).map(async ([kind, list]) => {
      const names = (await ask([...engine, ...list])) ?? [];
      return names.filter((name) => name.includes("sanddune")).map((name) => ({ engine, kind, name }));
    }),
  );
  return (await Promise.all(asked)).flat();
};

/** What there is before the tests begin. */
export const ownThingsNow = async (): Promise<ReadonlySet<string>> =>
  new Set((await ownThings()).map(describe));

const isOfRun = async ({ engine, kind, name }: Thing, run: Run): Promise<boolean> => {
  if (name.includes(idOf(run))) return true;
  // A snapshot has the path of its repository in a label.
  if (kind !== "container" && kind !== "image") return false;
  const inspected = await ask([...engine, "inspect", "--format", "{{json .}}", name]);
  return inspected?.join().includes(run.directory) ?? false;
};

const remove = async ({ engine, kind, name }: Thing): Promise<void> => {
  await ask([...engine, kind, "rm", "--force", ...(kind === "container" ? ["--volumes"] : []), name]);
};

/** Removes what the tests have made in engines. Tells what. */
export const removeContainers = async (run: Run): Promise<string[]> => {
  const things = await ownThings();
  // Images last: containers use them.
  const order = Object.keys(LISTS);
  things.sort((one, other) => order.indexOf(one.kind) - order.indexOf(other.kind));
  const removed: string[] = [];
  for (const thing of things) {
    if (!(await isOfRun(thing, run))) continue;
    await remove(thing);
    removed.push(describe(thing));
  }
  return removed;
};

/** What has come since the tests began and does not say whose it is: perhaps somebody else's, so it is not removed. */
export const findStrayThings = async (run: Run, before: ReadonlySet<string>): Promise<string[]> => {
  if (otherRuns(run).length > 0) return [];
  return (await ownThings()).map(describe).filter((thing) => !before.has(thing));
};

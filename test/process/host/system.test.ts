import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { closeSync, constants, mkdirSync, openSync, realpathSync, renameSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { exitCodeOf } from "../../../src/process/exitCode.ts";
import { linuxSystem } from "../../../src/process/host/linux.ts";
import { macosSystem } from "../../../src/process/host/macos.ts";
import {
  type HostProcess,
  type HostSystem,
  hostSystem,
  useHostSystem,
} from "../../../src/process/host/system.ts";
import { descendantsOf } from "../../../src/process/kill/killDescendants.ts";
import { killGroup } from "../../../src/process/kill/killGroup.ts";
import { killMarked } from "../../../src/process/kill/killMarked.ts";
import { isRunning, ownIdentity } from "../../../src/process/kill/processIdentity.ts";
import { waitFor } from "../../helpers/processes/waiting.ts";
import { temporaryDirectory } from "../../helpers/repository/repository.ts";

const isLinux = process.platform === "linux";
/** The ps of Linux has another name for the option that macOS calls `-E`; all else of it is the same. */
const SYSTEMS: [string, HostSystem][] = [
  ["by ps, as on macOS", isLinux ? macosSystem({ environmentOption: "e" }) : macosSystem()],
  ...(isLinux ? ([["by /proc", linuxSystem]] satisfies [string, HostSystem][]) : []),
];

const started = (args: readonly string[], options: { cwd?: string } = {}): ChildProcess => {
  const child = spawn("/usr/bin/env", args, { stdio: "ignore", ...options });
  onTestFinished(() => void child.kill("SIGKILL"));
  return child;
};

const pidOf = ({ pid = -1 }: ChildProcess): number => pid;

const run = ({ program, args }: { readonly program: string; readonly args: readonly string[] }) => {
  const { status, signal, stdout } = spawnSync(program, args, { encoding: "utf8" });
  return { stdout, exitCode: exitCodeOf(status, signal) };
};

describe.each(SYSTEMS)("processes %s", (_, system) => {
  beforeEach(() => onTestFinished(useHostSystem(system)));

  it("are listed with parent and group", () => {
    const own = hostSystem()
      .processes()
      .find(({ pid }) => pid === process.pid);
    expect(own).toMatchObject({ parent: process.ppid, isZombie: false, hasMemory: true });
    expect(own).toEqual(hostSystem().findProcess(process.pid));
  });

  it("have an age and a name", async () => {
    const child = started(["sleep", "1000"]);
    await waitFor(() => hostSystem().findProcess(pidOf(child))?.name === "sleep");
    const found = hostSystem().findProcess(pidOf(child));
    expect(found && hostSystem().ageSeconds(found)).toBeLessThan(60);
  });

  it("are found by a complete variable of their environment", async () => {
    const value = randomUUID();
    const child = started([`SANDDUNE_TEST=${value}`, "sleep", "1000"]);
    const find = (wanted: string) => hostSystem().findByVariable("SANDDUNE_TEST", wanted).carriers;
    await waitFor(() => find(value).includes(pidOf(child)));
    expect(find(value.slice(0, -1))).toEqual([]);
  });

  it("are found by their working directory", async () => {
    const directory = temporaryDirectory();
    const child = started(["sleep", "1000"], { cwd: directory });
    await waitFor(() => hostSystem().findInDirectory(directory).includes(pidOf(child)));
    expect(hostSystem().findInDirectory(`${directory}-other`)).toEqual([]);
  });

  it("are listed with their command lines", async () => {
    const word = randomUUID();
    started([process.execPath, "-e", "setInterval(() => {}, 1000)", word]);
    await waitFor(() =>
      hostSystem()
        .commandLines()
        .some((line) => line.includes(word)),
    );
  });

  it("that are marked are killed with descendants that hide their environment", async () => {
    const value = randomUUID();
    const child = started([`SANDDUNE_TEST=${value}`, "sh", "-c", "env -i sleep 1000 & exec sleep 1000"]);
    await waitFor(() => descendantsOf([pidOf(child)]).some(({ name }) => name === "sleep"));
    const hidden = descendantsOf([pidOf(child)]).map(({ pid }) => pid);
    const death = once(child, "exit");
    await killMarked({ name: "SANDDUNE_TEST", value });
    expect(await death).toEqual([null, "SIGKILL"]);
    await waitFor(() => hidden.every((pid) => hostSystem().findProcess(pid)?.isZombie ?? true));
  });

  it("of a group are gone when killGroup() says so", async () => {
    const child = spawn("sh", ["-c", "trap '' TERM; sleep 1000 & wait"], { stdio: "ignore", detached: true });
    expect(await killGroup(pidOf(child), 10)).toBe(true);
    const left = hostSystem().processes();
    expect(left.filter(({ group, isZombie }) => group === child.pid && !isZombie)).toEqual([]);
  });

  it("differ from later ones with the same id", () => {
    const own = ownIdentity();
    expect(isRunning(own)).toBe(true);
    expect(isRunning({ ...own, startTime: "another" })).toBe(false);
    expect(isRunning({ ...own, host: "another" })).toBe(true);
  });

  it("have the same identity in any time zone", () => {
    const own = ownIdentity();
    const zone = process.env["TZ"];
    onTestFinished(() => {
      if (zone === undefined) delete process.env["TZ"];
      else process.env["TZ"] = zone;
    });
    process.env["TZ"] = "Asia/Tokyo";
    expect(isRunning(own)).toBe(true);
  });

  it("in their own session end with the same exit code", () => {
    const { inOwnSession } = hostSystem();
    expect(run(inOwnSession(["sh", "-c", "echo out; exit 7"]))).toEqual({ exitCode: 7, stdout: "out\n" });
    expect(run(inOwnSession(["sh", "-c", "kill -9 $$"])).exitCode).toBe(137);
    const group = run(inOwnSession(["sh", "-c", "ps -o pgid= -p $$; echo $$"]))
      .stdout.trim()
      .split(/\s+/);
    expect(group[0]).toBe(group[1]);
  });
});

it.each(SYSTEMS)("an open directory has a path, %s", (_, system) => {
  const directory = temporaryDirectory();
  mkdirSync(join(directory, "inner"));
  const descriptor = openSync(directory, constants.O_RDONLY | constants.O_DIRECTORY);
  onTestFinished(() => closeSync(descriptor));
  const path = system.pathOfDirectory(descriptor, Buffer.from(directory));
  expect(realpathSync(join(path.toString(), "inner"))).toBe(join(directory, "inner"));
});

it("on Linux, the path of an open directory follows it when it is moved", { skip: !isLinux }, () => {
  const directory = temporaryDirectory();
  const [before, after] = [join(directory, "before"), join(directory, "after")];
  mkdirSync(before);
  const descriptor = openSync(before, constants.O_RDONLY | constants.O_DIRECTORY);
  onTestFinished(() => closeSync(descriptor));
  renameSync(before, after);
  const path = linuxSystem.pathOfDirectory(descriptor, Buffer.from(before)).toString();
  expect(realpathSync(path)).toBe(after);
});

/** Process 1 has one child, which has one child, and so on. */
const chainOf = (length: number): HostProcess[] =>
  Array.from({ length }, (_, index) => ({
    ...{ pid: index + 2, parent: index + 1, group: 1, name: "sh", startTime: "0" },
    ...{ isZombie: false, hasTerminal: false, hasMemory: true },
  }));

describe("the descendants of a process", () => {
  const among = (processes: HostProcess[]): number => {
    onTestFinished(useHostSystem({ ...hostSystem(), processes: () => processes }));
    return descendantsOf([1]).length;
  };

  it("are found in a very long chain", () => {
    expect(among(chainOf(30_000))).toBe(30_000);
  });

  it("are found once if reused pids form a circle", () => {
    const [first, ...others] = chainOf(3);
    expect(among([...others, { ...(first as HostProcess), parent: 4 }, ...chainOf(1)])).toBe(4);
  });
});

import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { isUsed } from "./leftoverProcesses.ts";
import { otherRuns, type Run, temporaryOf } from "./run.ts";

const CHECKOUT_LOCK = resolve(".cache/build.lock");

/** Made by the tests' own set-up, and used until the end. */
const SET_UP = /^sanddune-(guard|template)-/;

const mountTable = (): string =>
  process.platform === "linux" ? readFileSync("/proc/self/mountinfo", "utf8") : "";

const mountsBelow = (directory: string): string[] =>
  mountTable()
    .split("\n")
    .map((line) => line.split(" ")[4] ?? "")
    .map((path) => path.replace(/\\(\d{3})/g, (_, octal) => String.fromCharCode(Number.parseInt(octal, 8))))
    .filter((path) => path.startsWith(`${directory}/`));

/** Unmounts what the tests have mounted, the innermost first. Tells what. */
export const unmountAll = (run: Run): string[] =>
  mountsBelow(run.directory)
    .reverse()
    .map((path) => {
      execFileSync("umount", ["--lazy", path]);
      return `mount ${path}`;
    });

/** Removes the directory of the run. Tells what the tests have left in it. */
export const removeFiles = (run: Run): string[] => {
  const temporary = temporaryOf(run);
  const left = existsSync(temporary) ? readdirSync(temporary).filter((name) => !SET_UP.test(name)) : [];
  // What is mounted is not the tests' to delete.
  const [mount] = mountsBelow(run.directory);
  if (mount !== undefined) throw new Error(`${run.directory} is not removed: ${mount} is mounted`);
  rmSync(run.directory, { recursive: true, force: true });
  return left.map((name) => join(temporary, name));
};

/** New files where the tests have no business. They may be somebody else's, and are not removed. */
export const findStrayFiles = (run: Run, since: Date): string[] => {
  if (otherRuns(run).length > 0) return [];
  const isNew = (path: string) => (statSync(path, { throwIfNoEntry: false })?.ctime ?? 0) > since;
  return readdirSync("/tmp")
    .filter((name) => /^\.?sanddune/.test(name) && !/^sanddune(-run-|\.)/.test(name))
    .map((name) => join("/tmp", name))
    .concat(CHECKOUT_LOCK)
    .filter((path) => isNew(path) && !isUsed(path));
};

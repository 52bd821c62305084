import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";

const ROOT = join(import.meta.dirname, "../..");
const CLI = join(ROOT, "dist/cli.js");
const LOCK = join(ROOT, ".cache/build.lock");
const BUILD_TIMEOUT_MS = 90_000;

const modifiedAt = (path: string): number => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;

const isUpToDate = (): boolean => {
  const builtAt = modifiedAt(CLI);
  const inputs = [
    "package.json",
    "scripts/build.mjs",
    "scripts/joinChunks.mjs",
    "scripts/programText.mjs",
    ...["src", "schemas"].flatMap((directory) =>
      readdirSync(join(ROOT, directory), { recursive: true }).map((name) => `${directory}/${name}`),
    ),
  ];
  return inputs.every((name) => modifiedAt(join(ROOT, name)) <= builtAt);
};

const tryLock = (): boolean => {
  try {
    mkdirSync(LOCK);
    return true;
  } catch {
    return false;
  }
};

/** Test files run side by side: the first one builds, the others wait for it. */
const underLock = (work: () => void): void => {
  mkdirSync(join(ROOT, ".cache"), { recursive: true });
  const deadline = Date.now() + BUILD_TIMEOUT_MS;
  while (!tryLock()) {
    // Whoever held it for so long has died.
    if (Date.now() > deadline) rmSync(LOCK, { recursive: true, force: true });
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50);
  }
  try {
    work();
  } finally {
    rmSync(LOCK, { recursive: true, force: true });
  }
};

/** Path of the built command line, which is built anew if it is older than its sources. */
export const builtCli = (): string => {
  underLock(() => {
    if (!isUpToDate())
      execFileSync(process.execPath, [join(ROOT, "scripts/build.mjs"), "--quiet"], { stdio: "inherit" });
  });
  return CLI;
};

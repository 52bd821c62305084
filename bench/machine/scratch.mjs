// Repositories to measure in, in a directory that is gone afterwards.
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { setTimeout as wait } from "node:timers/promises";
import { AGENT_FILES } from "../contestants/agent.mjs";
import { endCommands } from "./command.mjs";
import { removeContainersIn } from "./leftContainers.mjs";

const FILES_PER_DIRECTORY = 100;

const directories = new Set();

const makeScratchDirectory = () => {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), "sanddune-bench-")));
  directories.add(directory);
  return directory;
};

const removeDirectory = (directory) => {
  // A program that is being ended may still write.
  rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
  directories.delete(directory);
};

// Whatever is left: the repositories that benchmarks share, and everything when the bench is interrupted.
process.on("exit", () => {
  endCommands();
  if (isInterrupted) removeContainersIn([...directories]);
  for (const directory of directories) removeDirectory(directory);
});

let isInterrupted = false;
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  process.once(signal, () => {
    isInterrupted = true;
    process.exit(1);
  });
}

export const withScratchDirectory = async (work) => {
  const directory = makeScratchDirectory();
  try {
    return await work(directory);
  } finally {
    removeDirectory(directory);
  }
};

const entryOf = (path, text) => `M 100644 inline ${path}\ndata ${Buffer.byteLength(text)}\n${text}\n`;

const directoryEntries = (folder, fileCount) => {
  const entries = [];
  for (let index = 0; index < FILES_PER_DIRECTORY; index++) {
    const number = folder * FILES_PER_DIRECTORY + index;
    if (number >= fileCount) break;
    entries.push(entryOf(`files/${folder}/${number}.txt`, `file ${number}\n`.repeat(90)));
  }
  return entries.join("");
};

/** One commit on main, as `git fast-import` reads it: 100,000 files take it two seconds. */
function* commitStream(fileCount) {
  yield "commit refs/heads/main\ncommitter Bench <bench@example.com> 1700000000 +0000\ndata 5\nFirst\n";
  for (const [path, text] of Object.entries(AGENT_FILES)) yield entryOf(path, text);
  for (let folder = 0; folder * FILES_PER_DIRECTORY < fileCount; folder++) {
    yield directoryEntries(folder, fileCount);
  }
}

/**
 * Never holds the whole commit: starting a process takes longer the more memory its parent has, and a program that calls
 * run() has little.
 */
const importCommit = async (repository, fileCount) => {
  const git = spawn("git", ["fast-import", "--quiet"], {
    cwd: repository,
    stdio: ["pipe", "inherit", "inherit"],
  });
  const [[exitCode]] = await Promise.all([
    once(git, "close"),
    pipeline(Readable.from(commitStream(fileCount)), git.stdin),
  ]);
  if (exitCode !== 0) throw new Error(`git fast-import failed with exit code ${exitCode}`);
};

const CONFIG = {
  "user.name": "Bench",
  "user.email": "bench@example.com",
  "gc.auto": "0",
  // As in a clone: the objects are in a pack.
  "fastimport.unpackLimit": "1",
};

/** A repository with one commit of `fileCount` files of about 1 KB, and the scripts of the agents. */
export const makeRepository = async (directory, fileCount) => {
  const repository = join(directory, `repository-${fileCount}`);
  const git = (args) => execFileSync("git", args, { cwd: repository, stdio: "pipe" });
  mkdirSync(repository);
  git(["init", "--quiet", "--initial-branch=main"]);
  for (const [key, value] of Object.entries(CONFIG)) git(["config", key, value]);
  await importCommit(repository, fileCount);
  git(["reset", "--quiet", "--hard"]);
  // As with a clone that has been there for a while, no file is as young as the index.
  await wait(1100);
  git(["status"]);
  return repository;
};

const shared = { directory: undefined, repositories: new Map() };

/** A repository that is too large to be made for each benchmark. They share it, under branch names of their own. */
export const sharedRepository = (fileCount) => {
  shared.directory ??= makeScratchDirectory();
  if (!shared.repositories.has(fileCount)) {
    shared.repositories.set(fileCount, makeRepository(shared.directory, fileCount));
  }
  return shared.repositories.get(fileCount);
};

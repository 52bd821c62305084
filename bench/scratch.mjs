// Repositories to measure in, in a directory that is gone afterwards.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const FILES_PER_DIRECTORY = 100;

/** What the agent does in every session: the least that counts as work. */
const AGENT = `date +%s%N > work.txt
git add work.txt
git commit --quiet -m Work
`;

export const withScratchDirectory = async (work) => {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), "sanddune-bench-")));
  try {
    return await work(directory);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
};

/** A repository with one commit of `fileCount` files of about 1 KB, and an `agent.sh` that commits. */
export const makeRepository = (directory, fileCount) => {
  const repository = join(directory, `repository-${fileCount}`);
  const git = (...args) => execFileSync("git", args, { cwd: repository, stdio: "pipe" });
  mkdirSync(repository);
  git("init", "--quiet", "--initial-branch=main");
  git("config", "user.name", "Bench");
  git("config", "user.email", "bench@example.com");
  git("config", "gc.auto", "0");
  writeFileSync(join(repository, "agent.sh"), AGENT);
  for (let number = 0; number < fileCount; number++) {
    const folder = join(repository, "files", String(Math.floor(number / FILES_PER_DIRECTORY)));
    if (number % FILES_PER_DIRECTORY === 0) mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, `${number}.txt`), `file ${number}\n`.repeat(90));
  }
  git("add", ".");
  git("commit", "--quiet", "-m", "Initial commit");
  // As in a clone: the objects are in a pack.
  git("repack", "-adq");
  return repository;
};

import { posix } from "node:path";
import { HARDENED_ARGUMENTS } from "../../git/git.ts";
import type { CommandRunner } from "../sandbox/commandRunner.ts";
import { afterColon, type Finding, type TimeLimit } from "./finding.ts";

const MAX_SHOWN_CHANGES = 5;

/**
 * The project is the work tree, whatever the repository's configuration says. Untracked files count unless the
 * repository itself ignores them, and so do changes within submodules. The owner is not checked: commands may run as
 * another user than the one who copied the project.
 */
const STATUS = [
  "git",
  ...HARDENED_ARGUMENTS,
  ...["-c", "core.excludesFile=", "-c", "safe.directory=*"],
  ...["--work-tree=.", "status", "--porcelain", "--untracked-files=all", "--ignore-submodules=none"],
];

/** git only warns about directories that it cannot read. */
const UNSEEN = /^warning: could not open directory/m;

const describeChanges = (changes: readonly string[]): string => {
  const shown = changes.slice(0, MAX_SHOWN_CHANGES).join(", ");
  return changes.length > MAX_SHOWN_CHANGES
    ? `${shown}, and ${changes.length - MAX_SHOWN_CHANGES} more`
    : shown;
};

/** Whether `git status` is clean, as `expected`. A repository around the project does not count. */
export const checkGitClean = async (
  commandRunner: CommandRunner,
  expected: boolean,
  { timeoutMs, signal }: TimeLimit,
): Promise<Finding> => {
  const { code, stdout, stderr } = await commandRunner.run({
    argv: STATUS,
    env: {
      GIT_CEILING_DIRECTORIES: posix.dirname(commandRunner.projectRoot),
      GIT_OPTIONAL_LOCKS: "0",
      LC_ALL: "C",
    },
    timeoutMs,
    signal,
  });
  if (code !== 0)
    return { ok: false, detail: `git status failed with exit code ${code}${afterColon(stderr)}` };
  if (stdout === "" && UNSEEN.test(stderr)) {
    return { ok: false, detail: `git could not look at everything${afterColon(stderr)}` };
  }
  const changes = stdout.split("\n").filter((line) => line !== "");
  return {
    ok: (changes.length === 0) === expected,
    detail: changes.length === 0 ? "clean" : `not clean: ${describeChanges(changes)}`,
  };
};

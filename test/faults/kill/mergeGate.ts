import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { waitFor } from "../../helpers/processes/waiting.ts";
import { git, temporaryDirectory } from "../../helpers/repository/repository.ts";

/** How many files the merge writes before, and after, the one that holds it up. */
export const FILES_AROUND_GATE = 1500;

/** What the agent commits: thousands of new files, one that the gate holds up, one changed and one deleted. */
export const MANY_FILES = {
  shell: `mkdir a z
i=0; while [ $i -lt ${FILES_AROUND_GATE} ]; do echo "a $i" > a/$i.txt; echo "z $i" > z/$i.txt; i=$((i + 1)); done
echo gate > m.gate
echo changed >> 0-changed.txt
git rm -q 0-deleted.txt
git add .
git commit -q -m "Many files"`,
};

/** Adds the files that the agent changes and deletes. */
export const prepareForMerge = (cwd: string): void => {
  writeFileSync(join(cwd, "0-changed.txt"), "original\n");
  writeFileSync(join(cwd, "0-deleted.txt"), "to be deleted\n");
  git(cwd, "add", ".");
  git(cwd, "commit", "--quiet", "-m", "Files");
};

export interface MergeGate {
  readonly isReached: () => boolean;
  open(): void;
}

/** Lets the merge into `checkout` stop in the middle, at the file `m.gate`, by a filter of the user. */
export const holdUpMerge = (checkout: string): MergeGate => {
  const directory = temporaryDirectory();
  const [reached, opened, filter] = ["reached", "opened", "filter"].map((name) => join(directory, name));
  writeFileSync(
    filter as string,
    `[ "$(pwd -P)" != '${checkout}' ] || { touch '${reached}'; until [ -e '${opened}' ] || [ ! -d '${directory}' ]; do sleep 0.02; done; }\nexec cat\n`,
  );
  git(checkout, "config", "filter.gate.smudge", `sh '${filter}'`);
  writeFileSync(join(checkout, ".git/info/attributes"), "*.gate filter=gate\n");
  return {
    isReached: () => existsSync(reached as string),
    open: () => writeFileSync(opened as string, ""),
  };
};

/** What `read` returns; nothing if the process or the thread has ended. */
const unlessEnded = (read: () => readonly string[]): readonly string[] => {
  try {
    return read();
  } catch {
    return [];
  }
};

/** Git starts filters from a thread of their own. */
const childrenOf = (pid: number): number[] =>
  unlessEnded(() => readdirSync(`/proc/${pid}/task`))
    .flatMap((thread) =>
      unlessEnded(() => readFileSync(`/proc/${pid}/task/${thread}/children`, "utf8").split(" ")),
    )
    .filter(Boolean)
    .map(Number);

/** Everything that a process has started, and they have, as long as it lives. */
export const descendantsOf = (pid: number): number[] =>
  childrenOf(pid).flatMap((child) => [child, ...descendantsOf(child)]);

const SECOND_TICKS = 100;

const ageMs = (pid: number): number => {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  const startTicks = Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19]);
  const uptimeSeconds = Number(readFileSync("/proc/uptime", "utf8").split(" ")[0]);
  return (uptimeSeconds - startTicks / SECOND_TICKS) * 1000;
};

/** Git shows progress once a command has taken two seconds. */
export const progressIsDue = (pid: number): Promise<void> => waitFor(() => ageMs(pid) > 2500);

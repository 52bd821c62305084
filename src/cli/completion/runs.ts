import type { Command } from "commander";
import type { RunState } from "../../runs/storedRun.ts";
import type { Candidate } from "./candidates.ts";

/** The value of `--cwd` among the words. */
const cwdOf = (words: readonly string[]): string | undefined => {
  const index = words.lastIndexOf("--cwd");
  return index === -1 ? undefined : words[index + 1];
};

/** The states of runs that a command accepts. */
const STATES: ReadonlyMap<string, readonly RunState[]> = new Map([
  ["stop", ["running", "dead"]],
  ["rescue", ["dead", "failed", "aborted"]],
]);

/** The runs of the repository that a command accepts, the latest first. */
export const runCandidates = async (command: Command, words: readonly string[]): Promise<Candidate[]> => {
  const [{ findRepository }, { listRuns }] = await Promise.all([
    import("../../runs/findRepository.ts"),
    import("../../runs/listRuns.ts"),
  ]);
  const runs = listRuns(await findRepository(cwdOf(words)));
  const states = STATES.get(command.name());
  return runs
    .filter(({ state }) => states === undefined || states.includes(state))
    .reverse()
    .map(({ runId, state, name, branch }) => ({
      value: runId,
      description: [state, name, branch].filter((part) => part !== undefined).join(", "),
    }));
};

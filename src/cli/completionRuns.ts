import type { Command } from "commander";
import type { Candidate } from "./completionCandidates.ts";

/** What `--cwd` says among the words. */
const cwdOf = (words: readonly string[]): string | undefined => {
  const index = words.lastIndexOf("--cwd");
  return index === -1 ? undefined : words[index + 1];
};

/** The runs of the repository that a command could be about, the latest first. */
export const runCandidates = async (command: Command, words: readonly string[]): Promise<Candidate[]> => {
  const { findRepository, listRuns } = await import("../runs/listRuns.ts");
  const runs = listRuns(await findRepository(cwdOf(words)));
  return runs
    .filter(({ state }) => command.name() !== "stop" || state === "running")
    .reverse()
    .map(({ runId, state, name, branch }) => ({
      value: runId,
      description: [state, name, branch].filter((part) => part !== undefined).join(", "),
    }));
};

import type { IterationUsage } from "../results.ts";
import type { RunRecord } from "./runRecord.ts";

/** All tokens, whatever they cost. */
export const totalTokens = (usage: IterationUsage): number =>
  usage.inputTokens + usage.cacheCreationInputTokens + usage.cacheReadInputTokens + usage.outputTokens;

/** What programs are told about a run. */
export const summaryOf = (run: RunRecord): object => {
  const { owner, owns: _, isCleaned: __, temporaryDirectory: ___, commits, usage, ...told } = run;
  return {
    ...told,
    pid: owner.pid,
    host: owner.host,
    commits: commits.map((sha) => ({ sha })),
    ...(usage && { usage, tokens: totalTokens(usage) }),
  };
};

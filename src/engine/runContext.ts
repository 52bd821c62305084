import { join } from "node:path";
import { ensureConfigDirectoryPart } from "../configDirectory.ts";
import type { RunDisplay } from "../display/contract.ts";
import { logFilePathOf, openDisplay } from "../display/openDisplay.ts";
import { Tally } from "../display/tally.ts";
import { Redactor } from "../env/redactor.ts";
import type { NestedRepositories } from "../git/nestedRepositories.ts";
import { baseRef } from "../git/runRefs.ts";
import { ownIdentity } from "../process/processIdentity.ts";
import { Journal } from "./journal.ts";
import { redactedDisplay } from "./redactedDisplay.ts";
import type { RunPlan } from "./runPlan.ts";
import { RunProgress } from "./runProgress.ts";

/** What the steps of one run session share. */
export interface RunContext {
  readonly plan: RunPlan;
  readonly journal: Journal;
  readonly display: RunDisplay;
  readonly progress: RunProgress;
  readonly tally: Tally;
  /** Takes the secrets out of everything that leaves the run. */
  readonly redactor: Redactor;
  /** Where the source branch is on the host; moves with every import. */
  tip: string;
  /** Repositories inside the checkout that were there before the agent. */
  nestedRepositories: NestedRepositories;
  /** The commit that the checkout's index is at. */
  indexAt: string;
  /** Directories that the agent's commits have made submodules of. */
  newSubmodules: readonly string[];
  /** Commands have been run in the sandbox, which may have left anything in the checkout. */
  sandboxIsUsed: boolean;
  agentHasStarted: boolean;
  /** The source branch has been merged into the target branch. */
  isMerged: boolean;
  /** Set when the worktree must stay even if it is clean. */
  keepWorktreeReason: string | undefined;
  /** Refs of the run's own that hold nothing that is not held elsewhere too. */
  readonly redundantRefs: Set<string>;
  /** Files of this run hold work that is nowhere else: they stay. */
  keepsRunFiles: boolean;
}

const notRedacted = (name: string): string =>
  `The value of ${name} is part of the repository's path, of a branch, or of another name that has to be shown: it is not redacted.`;

/** Begins the run's journal and display. From here on the run can be found, whatever happens to this process. */
export const openContext = (plan: RunPlan): RunContext => {
  const { runId, name, logging } = plan;
  const { configDirectory } = plan.repository;
  const { sourceBranch = "", targetBranch = "" } = plan.branches;
  const knownTexts = [
    plan.repository.topLevel,
    sourceBranch,
    targetBranch,
    plan.sandbox.name,
    plan.agent.name,
    name ?? "",
  ];
  const redactor = new Redactor(plan.env.secrets, knownTexts);
  // All of them, before any sandbox could see that one is missing.
  for (const part of ["worktrees", "logs"] as const) ensureConfigDirectoryPart(configDirectory, part);
  const logFilePath = logging.type === "file" ? logFilePathOf(configDirectory, runId, name) : undefined;
  const runDirectory = join(ensureConfigDirectoryPart(configDirectory, "runs"), runId);
  const journal = new Journal(runDirectory, (sentence) => redactor.text(sentence));
  journal.write({
    type: "begun",
    runId,
    name,
    owner: ownIdentity(),
    agent: plan.agent.name,
    sandbox: plan.sandbox.name,
    strategy: plan.branches.strategy,
    sourceBranch: plan.branches.sourceBranch,
    targetBranch: plan.branches.targetBranch,
    logFilePath,
  });
  const display = redactedDisplay(
    openDisplay({ logFilePath, logging, agent: plan.agent.name, name }),
    redactor,
  );
  const progress = new RunProgress(
    runId,
    plan.branches.sourceBranch ?? "HEAD",
    logFilePath,
    redactor,
    (sentence) => display.warn(sentence),
  );
  progress.warn(...plan.warnings, ...redactor.exempt.map(notRedacted));
  return {
    plan,
    journal,
    display,
    progress,
    tally: new Tally(plan.startedAt),
    redactor,
    tip: plan.host.head.sha,
    indexAt: plan.host.head.sha,
    newSubmodules: [],
    nestedRepositories: new Map(),
    sandboxIsUsed: false,
    agentHasStarted: false,
    isMerged: false,
    keepWorktreeReason: undefined,
    redundantRefs: new Set([baseRef(runId)]),
    keepsRunFiles: false,
  };
};

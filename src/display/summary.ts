import type { IterationResult, SandboxRunResult } from "../options/results.ts";
import { shellQuote } from "../tools/shellQuote.ts";
import { changeNames, commitNames, nextCommands, type ShownWork } from "./commitSummary.ts";
import type { RunEnding, SessionKind } from "./contract.ts";
import { showDuration } from "./duration.ts";
import type { Tally } from "./tally.ts";

/** The progress of a run: the fields that its result and its error have in common. */
export type Reached = Partial<SandboxRunResult> &
  Pick<IterationResult, "sessionId" | "sessionFilePath"> & {
    readonly failedIteration?: IterationResult;
    /** A summary of the commits, if known. */
    readonly work?: ShownWork | undefined;
  };

/** How to show a summary. */
export interface SummaryStyle {
  /** A text to show instead of the run log's path. */
  readonly log?: string;
  /** Whether commits have their full names. */
  readonly wholeNames?: boolean;
}

/** Only runs have tests to pass. */
const UNSOLVED = "The run has ended, but some of its tests fail.";

const TITLES: Record<SessionKind, Record<Exclude<RunEnding["state"], "unsolved">, string>> = {
  run: { succeeded: "The run succeeded.", failed: "The run failed.", aborted: "The run was aborted." },
  interactive: {
    succeeded: "The session is over.",
    failed: "The session failed.",
    aborted: "The session was aborted.",
  },
  sandbox: {
    succeeded: "The sandbox was closed.",
    failed: "The sandbox could not be created.",
    aborted: "Creating the sandbox was aborted.",
  },
  worktree: {
    succeeded: "The worktree was closed.",
    failed: "The worktree could not be created.",
    aborted: "Creating the worktree was aborted.",
  },
};

/** A sentence about how the session ended. */
export const endingTitle = (kind: SessionKind, state: RunEnding["state"]): string =>
  state === "unsolved" ? UNSOLVED : TITLES[kind][state];

const LABEL_WIDTH = 12;

/** Names of files and branches may contain line ends, which must not start new lines. */
const visible = (text: string): string =>
  text.replace(/[\n\r\t]/g, (character) => JSON.stringify(character).slice(1, -1));

const line = (label: string, text: string): string => `${label.padEnd(LABEL_WIDTH)}${visible(text)}`;

const indented = (items: readonly string[]): string[] => items.map((item) => line("", item));

/** The result and git have the rest. */
const MAX_LISTED = 10;

const listed = (items: readonly string[]): string[] =>
  indented(
    items.length <= MAX_LISTED
      ? items
      : [...items.slice(0, MAX_LISTED), `… and ${items.length - MAX_LISTED} more`],
  );

const commitLines = ({ commits = [], work }: Reached, { wholeNames = false }: SummaryStyle): string[] => {
  if (commits.length === 0) return [line("Commits", "none")];
  const names = commitNames(
    commits.map(({ sha }) => sha),
    work,
    wholeNames,
  );
  return [line("Commits", String(commits.length)), ...listed(names)];
};

const changeLines = ({ work }: Reached): string[] => {
  if (work === undefined) return [];
  const { title, files } = changeNames(work);
  return [line("Changes", title), ...listed(files)];
};

/** The next commands for the user, for a run of its own. A calling program may continue by itself. */
export const nextLines = (reached: Reached, hasSucceeded: boolean): string[] =>
  (reached.work === undefined ? [] : nextCommands(reached.work, reached, hasSucceeded)).map(
    (command, index) => line(index === 0 ? "Next" : "", command),
  );

/** Commits that are not on the branch. A warning has the command that creates a branch for them. */
const keptRefLines = ({ keptRefs = [] }: Reached): string[] =>
  keptRefs.length === 0
    ? []
    : [
        line("Elsewhere", "these are not on the branch:"),
        ...listed(keptRefs.map(({ name, ref }) => `${name.replace(/^refs\/heads\//, "")}: ${ref}`)),
      ];

const number = (count: number): string => count.toLocaleString("en-US");

/** The numbers of a run. */
export const tallyLines = ({
  iterations,
  toolCalls,
  failedToolCalls,
  usage,
  durationMs,
}: Tally): string[] => {
  const input = usage && usage.inputTokens + usage.cacheCreationInputTokens + usage.cacheReadInputTokens;
  return [
    line("Iterations", number(iterations)),
    line(
      "Tool calls",
      `${number(toolCalls)}${failedToolCalls === 0 ? "" : `, ${number(failedToolCalls)} failed`}`,
    ),
    ...(usage === undefined || input === undefined
      ? []
      : [
          line(
            "Tokens",
            `${number(input)} in (${number(usage.cacheReadInputTokens)} cached), ${number(usage.outputTokens)} out`,
          ),
        ]),
    line("Duration", showDuration(durationMs)),
  ];
};

const branchLines = ({ branch }: Reached): string[] => (branch === undefined ? [] : [line("Branch", branch)]);

/** Git allows one checkout of a branch, and refuses to remove a worktree with uncommitted changes. */
const worktreeLines = ({ preservedWorktreePath: path, branch }: Reached): string[] => {
  if (path === undefined) return [];
  const remove = `git worktree remove ${shellQuote(path)}`;
  const next =
    branch === undefined || branch === "HEAD"
      ? ["to remove it:", remove]
      : [`to check out ${branch} here:`, `${remove} && git switch ${shellQuote(branch)}`];
  return [line("Worktree", `kept: ${path}`), ...indented(next)];
};

/** Where the work is. */
const placeLines = (reached: Reached): string[] => [...branchLines(reached), ...worktreeLines(reached)];

/** The agent session that can be resumed: of an interactive session, or of the last iteration. */
const sessionLines = (reached: Reached): string[] => {
  const { sessionId, sessionFilePath } = reached.sessionId
    ? reached
    : (reached.failedIteration ?? reached.iterations?.at(-1) ?? {});
  return sessionId === undefined || sessionFilePath === undefined ? [] : [line("Session", sessionId)];
};

const solvedLines = ({ solved }: Reached): string[] =>
  solved === undefined ? [] : [line("Solved", solved ? "yes" : "no")];

/** The test results after the last iteration. */
const testLines = ({ iterations = [] }: Reached): string[] => {
  const tests = iterations.at(-1)?.tests;
  if (tests === undefined) return [];
  const { passed, total, error } = tests;
  return [
    line("Tests", `${number(passed)} of ${number(total)} passed`),
    ...(error === null ? [] : indented([error.split("\n", 1).join("")])),
  ];
};

const artifactLines = ({ artifacts = [] }: Reached): string[] =>
  artifacts.length === 0
    ? []
    : [line("Artifacts", number(artifacts.length)), ...listed(artifacts.map(({ hostPath }) => hostPath))];

/** The progress of a run for people: one item a line. */
export const reachedLines = (
  reached: Reached,
  style: SummaryStyle = {},
  figures: readonly string[] = [],
): string[] => {
  // A run that did not begin has no progress.
  if (reached.runId === undefined) return [];
  const { completionSignal, trajectoryPath, protectedPaths = [] } = reached;
  const { log = reached.logFilePath } = style;
  return [
    ...branchLines(reached),
    ...commitLines(reached, style),
    ...changeLines(reached),
    ...keptRefLines(reached),
    ...(completionSignal === undefined ? [] : [line("Signal", completionSignal)]),
    ...solvedLines(reached),
    ...testLines(reached),
    ...sessionLines(reached),
    ...worktreeLines(reached),
    ...(protectedPaths.length === 0
      ? []
      : [line("Careful", "these run automatically once checked out:"), ...listed(protectedPaths)]),
    ...artifactLines(reached),
    ...(trajectoryPath === undefined ? [] : [line("Trajectory", trajectoryPath)]),
    ...figures,
    ...(log === undefined ? [] : [line("Log", log)]),
  ];
};

export const warningLines = ({ warnings = [] }: Reached): string[] =>
  warnings.map((warning) => line("Warning", warning));

/** The lines at the end of a session. Sessions in a sandbox or worktree show the commits, not its maker. */
export const endingLines = (
  kind: SessionKind,
  { reached, tally }: RunEnding,
  style: SummaryStyle,
): string[] => {
  if (kind !== "run" && kind !== "interactive") return placeLines(reached);
  const figures = kind === "run" ? tallyLines(tally) : [];
  return reachedLines(reached, style, figures);
};

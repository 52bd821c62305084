import type { IterationResult, SandboxRunResult } from "../options/results.ts";
import { shellQuote } from "../tools/shellQuote.ts";
import { changeNames, commitNames, nextCommands, type ShownWork } from "./commitSummary.ts";
import type { RunEnding, SessionKind } from "./contract.ts";
import { showDuration } from "./duration.ts";
import type { Tally } from "./tally.ts";

/** What a result has to tell; an error has the same fields, as far as the run came. */
export type Reached = Partial<SandboxRunResult> &
  Pick<IterationResult, "sessionId" | "sessionFilePath"> & {
    readonly failedIteration?: IterationResult;
    /** What the commits hold, if that is known. */
    readonly work?: ShownWork | undefined;
  };

/** How it is shown. */
export interface SummaryStyle {
  /** Instead of the path of the run log. */
  readonly log?: string;
  /** Commits by their whole names. */
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

/** How it has ended, in a sentence. */
export const endingTitle = (kind: SessionKind, state: RunEnding["state"]): string =>
  state === "unsolved" ? UNSOLVED : TITLES[kind][state];

const LABEL_WIDTH = 12;

/** Names of files and branches may hold line ends, which would make lines of their own. */
const visible = (text: string): string =>
  text.replace(/[\n\r\t]/g, (character) => JSON.stringify(character).slice(1, -1));

const line = (label: string, text: string): string => `${label.padEnd(LABEL_WIDTH)}${visible(text)}`;

const indented = (items: readonly string[]): string[] => items.map((item) => line("", item));

/** The rest is in the result, and in git. */
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

/** What to type next, where the run was all that was asked for: a program that has started it may go on. */
export const nextLines = (reached: Reached, hasSucceeded: boolean): string[] =>
  (reached.work === undefined ? [] : nextCommands(reached.work, reached, hasSucceeded)).map(
    (command, index) => line(index === 0 ? "Next" : "", command),
  );

/** Commits that are not on the branch; a warning has the command that makes a branch of them. */
const keptRefLines = ({ keptRefs = [] }: Reached): string[] =>
  keptRefs.length === 0
    ? []
    : [
        line("Elsewhere", "these are not on the branch:"),
        ...listed(keptRefs.map(({ name, ref }) => `${name.replace(/^refs\/heads\//, "")}: ${ref}`)),
      ];

const number = (count: number): string => count.toLocaleString("en-US");

/** What a run has done, in figures. */
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

/** Git lets a branch be checked out in one place only. It refuses to remove a worktree with uncommitted changes. */
const worktreeLines = ({ preservedWorktreePath: path, branch }: Reached): string[] => {
  if (path === undefined) return [];
  const remove = `git worktree remove ${shellQuote(path)}`;
  const next =
    branch === undefined || branch === "HEAD"
      ? ["to remove it:", remove]
      : [`to check out ${branch} here:`, `${remove} && git switch ${shellQuote(branch)}`];
  return [line("Worktree", `kept: ${path}`), ...indented(next)];
};

/** Where work was done, for people. */
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

/** What came of the tests after the last iteration. */
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

/** What a run reached, for people: one thing a line, nothing that is not there. */
export const reachedLines = (
  reached: Reached,
  style: SummaryStyle = {},
  figures: readonly string[] = [],
): string[] => {
  // A run that had not begun has reached nothing.
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

/** What it came to. Commits and figures are for those who have worked in a sandbox or a worktree, not for who has made it. */
export const endingLines = (
  kind: SessionKind,
  { reached, tally }: RunEnding,
  style: SummaryStyle,
): string[] => {
  if (kind !== "run" && kind !== "interactive") return placeLines(reached);
  const figures = kind === "run" ? tallyLines(tally) : [];
  return reachedLines(reached, style, figures);
};

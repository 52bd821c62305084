import { isObjectName } from "../../objectName.ts";
import { OWN_EXPORT_REFS } from "../../runRefs.ts";

/** Words that the script in the sandbox prints, a line each. */
export const REPORT = {
  /** Followed by the tip of the source branch. */
  tip: "tip ",
  /** The source branch does not stand for a commit. */
  brokenTip: "broken-tip",
  /** There is no source branch any more, and HEAD is on another one. */
  renamedBranch: "renamed-branch",
  /** Followed by the prefix of the refs that the script has made for commits without a ref of their own. */
  ownRefs: "own-refs ",
  /** Some refs could not be read, or some commits not be named. */
  incompleteRefs: "incomplete-refs",
  bundle: "bundle",
  checkpoints: "checkpoints",
  /** Followed by a checksum of all refs before they were packed. */
  state: "state ",
  /** Followed by the commit that holds uncommitted work. */
  uncommitted: "uncommitted ",
  /** Some files could not be read. */
  incompleteFiles: "incomplete-files",
  /** Followed by the path of a repository in the worktree. */
  nested: "nested ",
  complete: "complete",
} as const;

/** What a sandbox says about its repository. All of it is the agent's word until the import has checked it. */
export interface ExportReport {
  /** Tip of the source branch, or of HEAD if the host's HEAD is detached; `undefined` when there is none. */
  readonly tip: string | undefined;
  /** What became of the source branch if it has no tip. */
  readonly source?: "broken" | "renamed" | undefined;
  readonly hasBundle: boolean;
  readonly hasCheckpoints: boolean;
  /** The prefix of refs that the export has made for commits without a ref of their own. */
  readonly ownRefs?: string | undefined;
  /** Some refs were not packed, because they could not be read. */
  readonly hasUnreadRefs?: boolean;
  readonly state?: string | undefined;
  readonly uncommitted: string | undefined;
  /** Uncommitted work that is in the sandbox only, and was not exported. */
  readonly leftBehind: readonly string[];
}

/** `undefined` for a report that breaks off. */
export const parseReport = (text: string): ExportReport | undefined => {
  const lines = text.split("\n");
  if (!lines.includes(REPORT.complete)) return undefined;
  const valuesOf = (word: string) =>
    lines.filter((line) => line.startsWith(word)).map((line) => line.slice(word.length));
  const [tip] = valuesOf(REPORT.tip).filter(isObjectName);
  const nested = valuesOf(REPORT.nested);
  return {
    tip,
    // A report that names neither a tip nor a reason for that is not believed to mean that there is nothing new.
    source: tip !== undefined ? undefined : lines.includes(REPORT.renamedBranch) ? "renamed" : "broken",
    hasBundle: lines.includes(REPORT.bundle),
    hasCheckpoints: lines.includes(REPORT.checkpoints),
    ownRefs: valuesOf(REPORT.ownRefs).find((prefix) => OWN_EXPORT_REFS.test(prefix)),
    hasUnreadRefs: lines.includes(REPORT.incompleteRefs),
    state: valuesOf(REPORT.state)[0],
    uncommitted: valuesOf(REPORT.uncommitted).find(isObjectName),
    leftBehind: [
      ...nested.map((path) => `the repository in ${JSON.stringify(path)}`),
      ...(lines.includes(REPORT.incompleteFiles) && nested.length === 0
        ? ["files that git could not read"]
        : []),
    ],
  };
};

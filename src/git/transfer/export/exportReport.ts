import { isObjectName } from "../../objectName.ts";
import { OWN_EXPORT_REFS } from "../../runRefs.ts";

/** The lines of the report that the script in the sandbox prints. */
export const REPORT = {
  /** Followed by the tip of the source branch. */
  tip: "tip ",
  /** The source branch does not point to a commit. */
  brokenTip: "broken-tip",
  /** The source branch is missing, and HEAD is on another branch. */
  renamedBranch: "renamed-branch",
  /** Followed by the prefix of the refs that the script has created for unreferenced commits. */
  ownRefs: "own-refs ",
  /** Some refs could not be read, or could not be created for unreferenced commits. */
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

/** The parsed report of a sandbox. Untrusted until the import has checked it. */
export interface ExportReport {
  /** The tip of the source branch, or of a detached HEAD; `undefined` if there is none. */
  readonly tip: string | undefined;
  /** Why the source branch has no tip. */
  readonly source?: "broken" | "renamed" | undefined;
  readonly hasBundle: boolean;
  readonly hasCheckpoints: boolean;
  /** The prefix of the refs that the export has created for unreferenced commits. */
  readonly ownRefs?: string | undefined;
  /** Some refs were not packed, because they could not be read. */
  readonly hasUnreadRefs?: boolean;
  readonly state?: string | undefined;
  readonly uncommitted: string | undefined;
  /** Descriptions of uncommitted work that was not exported, and exists only in the sandbox. */
  readonly leftBehind: readonly string[];
}

/** `undefined` if the report is incomplete. */
export const parseReport = (text: string): ExportReport | undefined => {
  const lines = text.split("\n");
  if (!lines.includes(REPORT.complete)) return undefined;
  const valuesOf = (word: string) =>
    lines.filter((line) => line.startsWith(word)).map((line) => line.slice(word.length));
  const [tip] = valuesOf(REPORT.tip).filter(isObjectName);
  const nested = valuesOf(REPORT.nested);
  return {
    tip,
    // A report with neither a tip nor a reason does not mean that there are no new commits.
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

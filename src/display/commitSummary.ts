import { counted } from "../tools/counted.ts";
import { shellQuote } from "../tools/shellQuote.ts";
import { shortenTo } from "./columns.ts";

/** A summary of a run's commits; see `WorkSummary` in `git/`. */
export interface ShownWork {
  readonly commits: readonly { readonly sha: string; readonly short: string; readonly subject: string }[];
  readonly files: readonly { readonly path: string; readonly added?: number; readonly deleted?: number }[];
  readonly base: string;
  readonly currentBranch: string | undefined;
}

const MAX_SUBJECT = 50;

/** The commits with their known subjects. A run log has full names, because programs search for them. */
export const commitNames = (
  shas: readonly string[],
  work: ShownWork | undefined,
  isWhole: boolean,
): string[] => {
  const known = new Map(work?.commits.map((commit) => [commit.sha, commit]));
  return shas.map((sha) => {
    const commit = known.get(sha);
    if (commit === undefined) return sha;
    return isWhole ? `${sha} ${commit.subject}` : `${commit.short} ${shortenTo(commit.subject, MAX_SUBJECT)}`;
  });
};

const total = (counts: readonly (number | undefined)[]): number =>
  counts.reduce<number>((sum, count) => sum + (count ?? 0), 0);

/** The number of changed lines, in total and for each file. */
export const changeNames = ({ files }: ShownWork): { readonly title: string; readonly files: string[] } => {
  const added = total(files.map((file) => file.added));
  const deleted = total(files.map((file) => file.deleted));
  const counts = files.map((file) =>
    file.added === undefined ? "binary" : `+${file.added} -${file.deleted ?? 0}`,
  );
  const width = Math.max(0, ...counts.map((count) => count.length));
  return {
    title: `${counted(files.length, "file")}, +${added} -${deleted}`,
    files: files.map(({ path }, index) => `${counts[index]?.padEnd(width)}  ${path}`),
  };
};

/** The next commands for the user: to inspect the commits and, if they are on another branch, to merge them. */
export const nextCommands = (
  work: ShownWork,
  { branch = "HEAD", commits = [] }: { readonly branch?: string; readonly commits?: readonly unknown[] },
  hasSucceeded: boolean,
): string[] => {
  if (branch !== "HEAD" && branch !== work.currentBranch) {
    const name = shellQuote(branch);
    return [`git diff HEAD...${name}`, ...(hasSucceeded ? [`git merge ${name}`] : [])];
  }
  const [first] = work.commits;
  if (first === undefined) return [];
  return commits.length === 1 ? [`git show ${first.short}`] : [`git log --patch -${commits.length}`];
};

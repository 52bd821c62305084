import { counted } from "../tools/counted.ts";
import { shellQuote } from "../tools/shellQuote.ts";
import { shortenTo } from "./columns.ts";

/** What a run's commits hold: see `WorkSummary` of `git/`. */
export interface ShownWork {
  readonly commits: readonly { readonly sha: string; readonly short: string; readonly subject: string }[];
  readonly files: readonly { readonly path: string; readonly added?: number; readonly deleted?: number }[];
  readonly base: string;
  readonly currentBranch: string | undefined;
}

const MAX_SUBJECT = 50;

/** The commits in words, as many as are described; the others by their names. Programs search a run log for whole names. */
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

/** How much has changed in all, and in which files. */
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

/** The commands to type next: to look at the commits and, where they wait on a branch, to take them. */
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

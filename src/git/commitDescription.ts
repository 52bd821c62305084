/** A commit, as git describes it in one line. */
export interface CommitDescription {
  readonly sha: string;
  readonly short: string;
  readonly subject: string;
  readonly parents: readonly string[];
}

export const DESCRIPTION_FORMAT = "--format=%H%x09%h%x09%P%x09%s";

/** Parses lines of that format. */
export const parseDescriptions = (output: string): CommitDescription[] =>
  output
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => {
      const [sha = "", short = "", parents = "", ...subject] = line.split("\t");
      return {
        sha,
        short,
        parents: parents.split(" ").filter((parent) => parent !== ""),
        subject: subject.join(" "),
      };
    });

import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { subjectsOf } from "../cli/fixtures.ts";
import { clean, cleanInWords, commits, deadRun, type HangingRun, worktreeOf } from "../cli/hangingRuns.ts";
import { leftovers } from "../helpers/leftovers.ts";
import { git } from "../helpers/repository.ts";
import { describeWith } from "../helpers/runtimes.ts";

/** The commands of docs/recovery.md, as somebody would type them. */
const rescue = ({ cwd, runId }: HangingRun): string => `
set -eu
RUN=${runId}
BRANCH=b
TIP=$(cat ".sanddune/runs/$RUN/files/git/refs/heads/$BRANCH")
rm -f ".sanddune/runs/$RUN/files/git/objects/info/alternates"
git init --quiet --bare ${cwd}/../rescue-$RUN
cd ${cwd}
printf '%s\\n' "$PWD/.git/objects" "$PWD/.sanddune/runs/$RUN/files/git/objects" > ../rescue-$RUN/objects/info/alternates
git -C ../rescue-$RUN update-ref refs/heads/rescued "$TIP"
git -c fetch.fsckObjects=true fetch --quiet ../rescue-$RUN "refs/heads/rescued:refs/sanddune/rescued/$RUN"
rm -rf ../rescue-$RUN
`;

describeWith(["bubblewrap"], "clean never loses work:", () => {
  it("commits that were not brought home keep the files, by name, until somebody has rescued them", async () => {
    const dead = await deadRun({ script: commits("unfinished") });
    const { cwd, runId } = dead;
    const said = await cleanInWords(cwd);
    expect(said).toContain(`.sanddune/runs/${runId}/files`);
    expect(said).toContain("it holds commits that are not in the repository");
    expect(said).toContain(`sanddune clean --run ${runId}`);
    expect(existsSync(worktreeOf(cwd))).toBe(true);
    execFileSync("sh", ["-c", rescue(dead)], { cwd });
    expect(subjectsOf(cwd, `refs/sanddune/rescued/${runId}`)[0]).toBe("unfinished");
    // Now nothing is lost with them. The worktree follows, as the guide says.
    git(worktreeOf(cwd), "reset", "--quiet", "--mixed", `refs/sanddune/rescued/${runId}`);
    await clean(cwd, "--yes");
    expect(subjectsOf(cwd, "b")[0]).toBe("unfinished");
    expect(leftovers(cwd)).toEqual([`refs/sanddune/rescued/${runId}`]);
    git(cwd, "fsck", "--connectivity-only");
  });

  it.each([
    ["on another branch", "git switch --quiet --create other; COMMIT; git switch --quiet b"],
    ["on a detached HEAD", "git switch --quiet --detach; COMMIT"],
    ["as a tag", "git switch --quiet --detach; COMMIT; git tag -a -m t t; git switch --quiet b"],
    ["packed", "COMMIT; git pack-refs --all"],
    ["stashed", "echo stashed > README.md; git stash --quiet"],
    ["stashed before another stash", "echo a > README.md; git stash -q; echo b > README.md; git stash -q"],
  ])("what the agent has %s keeps the files", async (_, work) => {
    const script = work.replace("COMMIT", "git commit --quiet --allow-empty -m alone");
    const { cwd, runId } = await deadRun({ script });
    expect(await clean(cwd, "--yes")).toContainEqual(
      expect.objectContaining({ what: "files", outcome: "kept", runIds: [runId], goesIfNamed: true }),
    );
    expect(existsSync(join(cwd, ".sanddune/runs", runId, "files/git"))).toBe(true);
    // What it builds on stays, too.
    expect(git(cwd, "for-each-ref", "--format=%(refname)", "refs/sanddune")).toBe(
      `refs/sanddune/base/${runId}`,
    );
  });
});

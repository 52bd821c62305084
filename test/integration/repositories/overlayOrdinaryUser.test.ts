import { execFile, execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import type { RunsOrder } from "../../faults/kill/runsUntilKilled.ts";
import { bundle } from "../../helpers/bundle.ts";
import { largeRepository } from "../../helpers/repository/largeRepository.ts";
import { temporaryDirectory } from "../../helpers/repository/repository.ts";
import { describeWith, isRoot, TEST_IMAGE, TEST_USER } from "../../helpers/runtimes/runtimes.ts";
import { mustSucceed, STRATEGIES } from "../../security/support.ts";

const PROGRAM = join(import.meta.dirname, "../../faults/kill/runsUntilKilled.ts");
const LEAVES = mustSucceed(
  'test -z "$(git status --porcelain)"',
  "git rm -q files/0/6.txt; echo new > new.txt; git add -A; git commit -qm Work",
  "rm -r files/1; mkdir files/1; echo open > files/1/open.txt; mkdir closed; echo x > closed/file; chmod 0 closed",
);

/** Root makes the repository, and gives it to the user. */
const runAsTestUser = async (sandbox: "bubblewrap" | "docker"): Promise<string> => {
  const cwd = largeRepository();
  const marks = temporaryDirectory();
  const program = bundle(PROGRAM, marks);
  execFileSync("chown", ["-R", TEST_USER, cwd, marks]);
  execFileSync("chmod", ["755", cwd, marks]);
  const run = { name: "run", sandbox, branchStrategy: STRATEGIES.branch, steps: [LEAVES] };
  const order: RunsOrder = { cwd, marks, image: TEST_IMAGE, runs: [run] };
  const asUser = ["-u", TEST_USER, "--", "env", `HOME=/home/${TEST_USER}`, "TMPDIR=/tmp"];
  await promisify(execFile)("runuser", [...asUser, process.execPath, program, JSON.stringify(order)], {
    cwd: "/",
  });
  return cwd;
};

for (const sandbox of ["bubblewrap", "docker"] as const) {
  describeWith(["test user", sandbox], `a run of an ordinary user in a large repository (${sandbox})`, () => {
    it.runIf(isRoot)(
      "keeps the work in the worktree, and leaves nothing that only root can delete",
      async () => {
        const cwd = await runAsTestUser(sandbox);
        const [worktree = ""] = readdirSync(join(cwd, ".sanddune/worktrees")).filter(
          (name) => name !== ".gitignore",
        );
        const path = join(cwd, ".sanddune/worktrees", worktree);
        expect(readdirSync(join(path, "files/1"))).toEqual(["open.txt"]);
        expect(readFileSync(join(path, "closed/file"), "utf8")).toBe("x\n");
        const [run = ""] = readdirSync(join(cwd, ".sanddune/runs")).filter((name) => name !== ".gitignore");
        expect(existsSync(join(cwd, ".sanddune/runs", run, "files"))).toBe(false);
        expect(readdirSync(join(cwd, ".git/sanddune/overlays"))).toEqual([]);
        const own = [join(cwd, ".sanddune"), join(cwd, ".git/sanddune")];
        const foreign = execFileSync("find", [...own, "!", "-user", TEST_USER]);
        expect(foreign.toString()).toBe("");
      },
    );
  });
}

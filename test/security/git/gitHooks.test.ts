import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { git, temporaryDirectory, temporaryRepository } from "../../helpers/repository/repository.ts";
import { describeInBoth, play, SANDBOXES } from "../support.ts";

const HOOKS = ["pre-commit", "commit-msg", "post-commit", "pre-merge-commit", "post-merge", "post-checkout"];

/** A repository whose hooks leave a trace, and let no commit pass. */
const repositoryWithHooks = (): { readonly cwd: string; readonly trace: string } => {
  const cwd = temporaryRepository();
  const trace = join(temporaryDirectory(), "trace");
  for (const directory of [".git/hooks", "my-hooks"]) {
    mkdirSync(join(cwd, directory), { recursive: true });
    for (const name of HOOKS) {
      writeFileSync(join(cwd, directory, name), `#!/bin/sh\ntouch ${trace} ran-${name}\nexit 1\n`, {
        mode: 0o755,
      });
    }
  }
  git(cwd, "add", ".");
  git(cwd, "-c", "core.hooksPath=/dev/null", "commit", "--quiet", "-m", "Add hooks");
  git(cwd, "config", "core.hooksPath", "my-hooks");
  return { cwd, trace };
};

describeInBoth("git hooks of the user", (name) => {
  it("do not run for the commits of an agent: not in the sandbox, nor when they are merged", async () => {
    const { cwd, trace } = repositoryWithHooks();
    const { commits } = await play(cwd, [{ commit: "Work", files: { "a.txt": "a\n" } }], {
      sandbox: SANDBOXES[name](),
      branchStrategy: { type: "merge-to-head" },
    });
    expect(commits).toHaveLength(1);
    expect(git(cwd, "log", "-1", "--format=%s", "--", "a.txt")).toBe("Work");
    expect(existsSync(trace)).toBe(false);
    expect(git(cwd, "ls-files", "ran-*")).toBe("");
  });
});

import { expect, it } from "vitest";
import { run, scripted } from "../../../src/index.ts";
import { bubblewrap } from "../../../src/sandboxes/bubblewrap.ts";
import type { SandboxProvider } from "../../../src/sandboxes/contract.ts";
import { docker } from "../../../src/sandboxes/docker.ts";
import { git, temporaryRepository } from "../../helpers/repository/repository.ts";
import { describeWith, TEST_IMAGE } from "../../helpers/runtimes/runtimes.ts";

const ALLOWED = ["-c", "protocol.file.allow=always"];

const repositoryWithSubmodule = (): string => {
  const cwd = temporaryRepository();
  git(cwd, ...ALLOWED, "submodule", "--quiet", "add", temporaryRepository(), "library");
  git(cwd, "commit", "--quiet", "-m", "A library");
  return cwd;
};

const agent = scripted([
  { shell: "cat library/README.md > seen.txt; git -C library log -1 --format=%s >> seen.txt" },
  { commit: "Seen" },
]);

/** Its submodule is fetched into the worktree by a hook. */
const runInWorktree = (cwd: string, sandbox: SandboxProvider) =>
  run({
    agent,
    sandbox,
    cwd,
    branchStrategy: { type: "branch", branch: "work" },
    prompt: "Look",
    hooks: {
      host: {
        onWorktreeReady: [{ command: `git ${ALLOWED.join(" ")} submodule --quiet update --init` }],
      },
    },
  });

describeWith(["bubblewrap"], "a submodule in bubblewrap", () => {
  it("works in the user's own checkout, and in a worktree that a hook has fetched it into", async () => {
    const cwd = repositoryWithSubmodule();
    await run({ agent, sandbox: bubblewrap(), cwd, prompt: "Look" });
    expect(git(cwd, "show", "main:seen.txt")).toBe("# Fixture\nInitial commit");
    git(cwd, "rm", "--quiet", "seen.txt");
    git(cwd, "commit", "--quiet", "-m", "Forget it");
    await runInWorktree(cwd, bubblewrap());
    expect(git(cwd, "show", "work:seen.txt")).toBe("# Fixture\nInitial commit");
  });
});

describeWith(["docker"], "a submodule in docker", () => {
  it("works in a worktree that a hook has fetched it into", async () => {
    const cwd = repositoryWithSubmodule();
    await runInWorktree(cwd, docker({ imageName: TEST_IMAGE }));
    expect(git(cwd, "show", "work:seen.txt")).toBe("# Fixture\nInitial commit");
  });
});

import { expect, it } from "vitest";
import { run, scripted } from "../../src/index.ts";
import { bubblewrap } from "../../src/sandboxes/bubblewrap.ts";
import { docker } from "../../src/sandboxes/docker.ts";
import { podman } from "../../src/sandboxes/podman.ts";
import { git, temporaryRepository } from "../helpers/repository.ts";
import { describeWith, type Runtime, TEST_IMAGE } from "../helpers/runtimes.ts";

const SANDBOXES = [
  ["bubblewrap", () => bubblewrap()],
  ["docker", () => docker({ image: TEST_IMAGE })],
  ["podman", () => podman({ image: TEST_IMAGE })],
] as const satisfies readonly (readonly [Runtime, unknown])[];

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

for (const [name, sandbox] of SANDBOXES) {
  describeWith([name], `a submodule in ${name}`, () => {
    it("of the user's own checkout works", async () => {
      const cwd = repositoryWithSubmodule();
      await run({ agent, sandbox: sandbox(), cwd, prompt: "Look" });
      expect(git(cwd, "show", "main:seen.txt")).toBe("# Fixture\nInitial commit");
    });

    it("that a hook has fetched into the worktree works", async () => {
      const cwd = repositoryWithSubmodule();
      const command = `git ${ALLOWED.join(" ")} submodule --quiet update --init`;
      await run({
        agent,
        sandbox: sandbox(),
        cwd,
        branchStrategy: { type: "branch", branch: "work" },
        prompt: "Look",
        hooks: { host: { onWorktreeReady: [{ command }] } },
      });
      expect(git(cwd, "show", "work:seen.txt")).toBe("# Fixture\nInitial commit");
    });
  });
}

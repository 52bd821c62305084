import { expect, it } from "vitest";
import { bubblewrap } from "../../../src/sandboxes/bubblewrap.ts";
import { docker } from "../../../src/sandboxes/docker.ts";
import { podman } from "../../../src/sandboxes/podman.ts";
import { largeRepository } from "../../helpers/repository/largeRepository.ts";
import { git } from "../../helpers/repository/repository.ts";
import { describeWith, TEST_IMAGE } from "../../helpers/runtimes/runtimes.ts";
import { mustSucceed, play } from "../../security/support.ts";
import {
  counter,
  kept,
  logOf,
  type MakeSandbox,
  onBranch,
  packageRepository,
  ranTimes,
  setupHook,
} from "./scene.ts";

const PROVIDERS: readonly ["bubblewrap" | "docker" | "podman", MakeSandbox][] = [
  ["bubblewrap", (mounts) => bubblewrap({ mounts })],
  ["docker", (mounts) => docker({ imageName: TEST_IMAGE, mounts })],
  ["podman", (mounts) => podman({ imageName: TEST_IMAGE, mounts })],
];

const SEES_SETUP = mustSucceed(
  'test "$(cat node_modules/dep/index.js)" = dep && test "$(cat packages/a/node_modules/x)" = x',
  'test "$(cat "$HOME/tool")" = tool && test "$(cat /tmp/made)" = made',
  'test -z "$(git status --porcelain)"',
);

/** Changes and deletes files of the commit and of the set-up, which nobody else may see. */
const changes = (message: string) =>
  mustSucceed(
    "echo changed >> README.md; rm -f files/0/5.txt",
    "echo changed >> node_modules/dep/index.js; rm -r packages/a/node_modules",
    // The same commit of the same second would be known already.
    `git add -A && git commit -qm ${message} && test -z "$(git status --porcelain)"`,
  );

for (const [name, make] of PROVIDERS) {
  describeWith([name], `a hook with cache (${name})`, () => {
    it.each([
      ["a small repository", () => packageRepository(), "worktree"],
      ["a large repository", () => packageRepository(largeRepository()), "overlay"],
    ])("runs once, and its result is in the next sandbox: %s", async (_, makeRepository, checkout) => {
      const cwd = makeRepository();
      const count = counter();
      const options = { hooks: setupHook(count, { files: 3 }), sandbox: make(count.mounts) };
      const first = await play(cwd, [SEES_SETUP, changes("First")], { ...onBranch("agent/1"), ...options });
      expect(logOf(first)).toContain("The result of the hooks is kept");
      expect(first.warnings).toEqual([]);
      const second = await play(cwd, [SEES_SETUP, changes("Second")], { ...onBranch("agent/2"), ...options });
      expect(logOf(second)).toMatch(/Started from the kept set-up \(made \d+ s ago by run/);
      expect(second).toMatchObject({ warnings: [], commits: [{}], checkout });
      expect([first.preservedWorktreePath, second.preservedWorktreePath]).toEqual([undefined, undefined]);
      for (const branch of ["agent/1", "agent/2"])
        expect(git(cwd, "show", `${branch}:README.md`)).toContain("changed");
      expect(ranTimes(count)).toBe(1);
      expect(kept(cwd)).toHaveLength(1);
      expect(git(cwd, "status", "--porcelain")).toBe("");
    });
  });
}

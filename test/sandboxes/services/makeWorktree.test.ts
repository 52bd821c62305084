import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { SandboxAccess } from "../../../src/sandboxes/exec/sandboxAccess.ts";
import { makeWorktree } from "../../../src/sandboxes/services/makeWorktree.ts";
import { temporaryDirectory } from "../../helpers/repository/repository.ts";

/** Commands of this machine, with a home of their own. */
const launchAt =
  (home: string): SandboxAccess["launch"] =>
  ([program = "", ...args]) => ({ program, args, env: { HOME: home, PATH: process.env["PATH"] ?? "" } });

test("the worktree is made in the home directory, and again where it was made", async () => {
  const home = temporaryDirectory();
  for (const _ of [1, 2]) {
    expect(await makeWorktree(launchAt(home), {})).toMatchObject({ worktreePath: join(home, "repo"), home });
  }
});

test("the worktree takes the place of nothing that came with the image", async () => {
  const home = temporaryDirectory();
  mkdirSync(join(home, "repo"));
  writeFileSync(join(home, "repo", "theirs"), "");
  const { worktreePath } = await makeWorktree(launchAt(home), {});
  expect(worktreePath).toBe(join(home, "sanddune-repo"));
});

test("an unusable directory is reported with the sandbox's error", async () => {
  const launch = launchAt(temporaryDirectory());
  await expect(makeWorktree(launch, { inside: "/dev/null" })).rejects.toThrow(/could not be made \(.*mkdir/s);
});

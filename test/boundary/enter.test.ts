import { expect, it } from "vitest";
import { createWorktree } from "../../src/index.ts";
import { temporaryRepository } from "../helpers/repository/repository.ts";

it("an entry point works in the directory that was current when it was called", async () => {
  const [called, later] = [temporaryRepository(), temporaryRepository()];
  const formerDirectory = process.cwd();
  const branchStrategy = { type: "branch", branch: "agent/x" } as const;
  try {
    process.chdir(called);
    // The first call loads the engine before it looks at the directory.
    const opening = createWorktree({ branchStrategy });
    process.chdir(later);
    await using worktree = await opening;
    expect(worktree.worktreePath).toMatch(new RegExp(`^${called}/`));
  } finally {
    process.chdir(formerDirectory);
  }
});

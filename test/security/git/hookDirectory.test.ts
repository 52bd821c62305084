import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { git, temporaryDirectory, temporaryRepository } from "../../helpers/repository/repository.ts";
import { needsRuntimes } from "../../helpers/runtimes/runtimes.ts";
import { failureOf, play, shell } from "../support.ts";

needsRuntimes("bubblewrap");

it("a hook on the host does not follow a link of the agent in the place of its directory", async () => {
  const cwd = temporaryRepository();
  mkdirSync(join(cwd, "packages/app"), { recursive: true });
  writeFileSync(join(cwd, "packages/app/a.txt"), "a");
  git(cwd, "add", ".");
  git(cwd, "commit", "--quiet", "-m", "An app");
  const elsewhere = temporaryDirectory();
  const branchStrategy = { type: "branch", branch: "work" } as const;
  const link = `rm -r packages/app; ln -s ${elsewhere} packages/app; git add --all; git commit --quiet -m Link`;
  await play(cwd, [shell(link)], { branchStrategy });

  const error = await failureOf(
    play(join(cwd, "packages/app"), [], {
      branchStrategy,
      hooks: { host: { onWorktreeReady: [{ command: "touch hook-was-here" }] } },
    }),
  );
  expect(error).toMatchObject({ name: "InvalidOptionsError", option: "cwd" });
  expect(existsSync(join(elsewhere, "hook-was-here"))).toBe(false);
});

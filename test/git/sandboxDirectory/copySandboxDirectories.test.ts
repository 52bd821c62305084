import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, test } from "vitest";
import { runAtBoundary } from "../../../src/boundary/boundary.ts";
import { copySandboxDirectories } from "../../../src/git/sandboxDirectory/copySandboxDirectories.ts";
import { sandboxDirectories } from "../../../src/git/sandboxDirectory/sandboxGitDirectory.ts";
import { temporaryDirectory } from "../../helpers/repository/repository.ts";

test("the git directory appears when it is complete, without the files of sanddune's own commands", async () => {
  const [filesDirectory, toFilesDirectory] = [temporaryDirectory(), temporaryDirectory()];
  const [from, to] = [sandboxDirectories(filesDirectory), sandboxDirectories(toFilesDirectory)];
  mkdirSync(from.home);
  mkdirSync(join(from.git, "refs"), { recursive: true });
  for (let count = 0; count < 2000; count++) writeFileSync(join(from.git, "refs", String(count)), "x\n");
  writeFileSync(join(from.git, "HEAD"), "x\n");
  writeFileSync(join(from.git, "sanddune-ready-0"), "x\n");
  const copying = runAtBoundary(copySandboxDirectories(filesDirectory, toFilesDirectory));
  while (!existsSync(to.git)) await nextTurn();
  expect(readdirSync(to.git).sort()).toEqual(["HEAD", "refs"]);
  expect(readdirSync(join(to.git, "refs"))).toHaveLength(2000);
  await copying;
  expect(readdirSync(toFilesDirectory).sort()).toEqual(["git", "home"]);
});

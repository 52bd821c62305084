import { symlinkSync } from "node:fs";
import { join } from "node:path";
import * as Effect from "effect/Effect";
import { expect, it } from "vitest";
import { isProtectedPath } from "../../src/git/protectedPaths.ts";
import { inspectChanges } from "../../src/git/runChanges.ts";
import { git, temporaryRepository } from "../helpers/repository/repository.ts";
import { writeFiles } from "../helpers/repository/writeFiles.ts";

/** Started, or obeyed, without anybody asking for it: by agents, editors, debuggers, package managers, CI servers. */
const PROTECTED = [
  ".aider.conf.yml",
  ".aider.conf.yaml",
  ".github/hooks/pre-tool.json",
  ".github/copilot-instructions.md",
  ".github/instructions/style.instructions.md",
  ".github/prompts/review.prompt.md",
  ".github/agents/reviewer.md",
  ".cursorrules",
  ".windsurfrules",
  ".windsurf/rules/x.md",
  ".clinerules",
  ".clinerules/hooks/PreToolUse",
  ".roo/mcp.json",
  ".roorules",
  ".roorules-code",
  ".roomodes",
  ".continue/config.yaml",
  ".kiro/hooks/x.kiro.hook",
  ".junie/guidelines.md",
  ".augment/rules/x.md",
  ".amazonq/mcp.json",
  "bunfig.toml",
  "packages/app/bunfig.toml",
  ".pnp.cjs",
  ".pnp.loader.mjs",
  ".mvn/extensions.xml",
  ".mvn/wrapper/maven-wrapper.properties",
  "gradle/wrapper/gradle-wrapper.properties",
  "gradle/wrapper/gradle-wrapper.jar",
  ".drone.yml",
  ".drone.star",
  ".cirrus.yml",
  ".cirrus.star",
  "appveyor.yml",
  ".appveyor.yml",
  ".semaphore/semaphore.yml",
  ".dir-locals.el",
  "src/.dir-locals-2.el",
  ".exrc",
  ".vimrc",
  ".nvimrc",
  ".nvim.lua",
  ".gdbinit",
  ".lldbinit",
  ".Rprofile",
  ".irbrc",
  ".pdbrc",
];

it.each(PROTECTED)("%s is protected, below any directory and in any case", (path) => {
  for (const variant of [path, `packages/deep/${path}`, path.toUpperCase()]) {
    expect([variant, isProtectedPath(variant)]).toEqual([variant, true]);
  }
});

const ORDINARY = [
  "aider.conf.yml",
  ".github/ISSUE_TEMPLATE/bug.md",
  ".github/copilot-instructions.md.txt",
  "docs/cursorrules",
  "src/continue/loop.ts",
  "roo/x.ts",
  "mybunfig.toml",
  "mvn/x",
  "gradle/libs.versions.toml",
  "drone.yml.md",
  "src/appveyor.ts",
  "exrc",
  "nvim.lua",
  "gdbinit.md",
  "src/hooks/useThing.ts",
  "config/app.yml",
];

it.each(ORDINARY)("%s is not", (path) => {
  expect(isProtectedPath(path)).toBe(false);
});

const inspect = async (cwd: string, gradingPaths: readonly string[] = []): Promise<string[]> => {
  git(cwd, "add", "--all");
  git(cwd, "commit", "--quiet", "-m", "Change");
  const changes = await Effect.runPromise(inspectChanges(cwd, "HEAD~1", "HEAD", gradingPaths));
  return [...changes.protectedPaths].sort();
};

it.each([".claude", ".vscode", ".github", ".cargo", ".clinerules", "node_modules", "packages/app/.husky"])(
  "a link %s is protected: what it leads to has another path",
  async (path) => {
    const cwd = temporaryRepository();
    writeFiles(cwd, { "elsewhere/settings.json": "{}\n", "packages/app/x": "" });
    symlinkSync("elsewhere", join(cwd, path));
    expect(await inspect(cwd)).toEqual([path]);
  },
);

it("all that lies in a folder which grades an agent is protected, and nothing beside it", async () => {
  const cwd = temporaryRepository();
  const below = { "tests/env/a.test.ts": "", "Tests/ENV/b.ts": "", "tests/env/deep/c": "" };
  writeFiles(cwd, { ...below, "tests/environment.md": "", "tests/other/env/a": "" });
  expect(await inspect(cwd, ["tests/env"])).toEqual(Object.keys(below).sort());
});

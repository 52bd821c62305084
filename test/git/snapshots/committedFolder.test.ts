import { writeFileSync } from "node:fs";
import { join } from "node:path";
import * as Effect from "effect/Effect";
import { describe, expect, it } from "vitest";
import {
  type CommittedFolder,
  isDifferentIn,
  namesIn,
  readFileIn,
  uncommittedIn,
} from "../../../src/git/snapshots/committedFolder.ts";
import { git, temporaryRepository } from "../../helpers/repository/repository.ts";
import { writeFiles } from "../../helpers/repository/writeFiles.ts";

const commitAll = (cwd: string): string => {
  git(cwd, "add", "--all");
  git(cwd, "commit", "--quiet", "-m", "Change");
  return git(cwd, "rev-parse", "HEAD");
};

const scene = (path: string): CommittedFolder => {
  const topLevel = temporaryRepository();
  writeFiles(topLevel, { [join(path, "a file")]: "a\n", ".gitignore": "made/\n*.log\n" });
  return { topLevel, commit: commitAll(topLevel), path };
};

/** Names that git would take for something else, if it were let. */
describe.each(["tests/env", "", ":(glob)**", "-x", "a [b]*\n"])("the folder %j of a commit", (path) => {
  it("has its names and files", async () => {
    const folder = scene(path);
    expect(await Effect.runPromise(namesIn(folder))).toContain("a file");
    expect(await Effect.runPromise(readFileIn(folder, "a file"))).toBe("a\n");
    expect(await Effect.runPromise(namesIn({ ...folder, path: join(path, "none") }))).toBeUndefined();
  });

  it("is compared with the checkout: what is changed or new in it, and what git ignores", async () => {
    const folder = scene(path);
    const { topLevel } = folder;
    expect(await Effect.runPromise(uncommittedIn(folder))).toEqual({ changed: [], ignored: [] });
    writeFileSync(join(topLevel, "README.md"), "elsewhere\n");
    git(topLevel, "commit", "--quiet", "--all", "-m", "Elsewhere");
    writeFiles(topLevel, {
      [join(path, "a file")]: "changed\n",
      [join(path, "new/one")]: "",
      [join(path, "made/thing")]: "",
      [join(path, "a.log")]: "",
    });
    const { changed, ignored } = await Effect.runPromise(uncommittedIn(folder));
    expect([...changed].sort()).toEqual(["a file", "new/one"]);
    expect([...ignored].sort()).toEqual(["a.log", "made/"]);
  });

  it("is compared with that of another commit", async () => {
    const folder = scene(path);
    const { topLevel } = folder;
    expect(await Effect.runPromise(isDifferentIn(folder, folder.commit))).toBe(false);
    writeFileSync(join(topLevel, path, "a file"), "b\n");
    expect(await Effect.runPromise(isDifferentIn(folder, commitAll(topLevel)))).toBe(true);
    writeFiles(topLevel, { [join(path, "a file")]: "a\n", "else.txt": "" });
    expect(await Effect.runPromise(isDifferentIn(folder, commitAll(topLevel)))).toBe(path === "");
  });
});

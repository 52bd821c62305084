import { execFileSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import * as Effect from "effect/Effect";
import { describe, expect, it } from "vitest";
import { readHostState } from "../../../../src/git/hostState.ts";
import { openRepository } from "../../../../src/git/repository.ts";
import { consolidatePacks } from "../../../../src/git/transfer/import/consolidatePacks.ts";
import { git, temporaryRepository } from "../../../helpers/repository/repository.ts";

const packsOf = (cwd: string): number =>
  readdirSync(join(cwd, ".git/objects/pack")).filter((name) => name.endsWith(".pack")).length;

const objectsOf = (cwd: string): string => git(cwd, "cat-file", "--batch-all-objects", "--batch-check");

/** A repository with as many pack files as imports leave. None of what is in them has a ref. */
const repositoryWithPacks = (count: number): string => {
  const cwd = temporaryRepository();
  const script = `mkdir .git/made; cd .git/made; for n in $(seq ${count}); do echo $n > $n; done
seq ${count} | git --git-dir="$OLDPWD/.git" hash-object -w --stdin-paths > names; cd "$OLDPWD"
while read -r name; do echo $name | git pack-objects -q .git/objects/pack/pack >/dev/null; done < .git/made/names
git prune-packed; rm -r .git/made`;
  execFileSync("sh", ["-c", script], { cwd });
  return cwd;
};

const consolidate = (cwd: string): Promise<void> =>
  Effect.runPromise(
    Effect.gen(function* () {
      const repository = yield* openRepository(cwd);
      const { config } = yield* readHostState(repository);
      yield* consolidatePacks(repository, config);
    }),
  );

describe("the pack files that imports leave", () => {
  it("are put together once there are more than git's own limit, and no object is lost", async () => {
    const cwd = repositoryWithPacks(51);
    const before = objectsOf(cwd);
    await consolidate(cwd);
    expect(packsOf(cwd)).toBeLessThan(5);
    expect(objectsOf(cwd)).toBe(before);
    git(cwd, "fsck", "--strict");
  });

  it.each([
    ["gc.auto", "0"],
    ["gc.autoPackLimit", "0"],
    ["gc.autoPackLimit", "20"],
  ])("stay as they are with the user's %s=%s, or below its limit", async (key, value) => {
    const cwd = repositoryWithPacks(12);
    git(cwd, "config", key, value);
    await consolidate(cwd);
    expect(packsOf(cwd)).toBe(12);
  });

  it("are put together by the user's own limit", async () => {
    const cwd = repositoryWithPacks(12);
    git(cwd, "config", "gc.autoPackLimit", "10");
    await consolidate(cwd);
    expect(packsOf(cwd)).toBeLessThan(5);
  });
});

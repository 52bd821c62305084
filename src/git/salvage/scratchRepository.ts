import { copyFileSync, existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as Effect from "effect/Effect";
import type { SandduneError } from "../../errors.ts";
import { interruptible } from "../../process/interruptible.ts";
import { git } from "../git.ts";
import { objectStores } from "../objectStores.ts";
import { isGitError } from "../refs.ts";
import type { Repository } from "../repository.ts";
import { copyObjects } from "./copyObjects.ts";

/** Git must not take one object for another, whatever the agent's refs are called. */
export const SCRATCH_ENV = { GIT_NO_REPLACE_OBJECTS: "1" } as const;

const indexPack = (cwd: string, path: string): Effect.Effect<string[], SandduneError> =>
  git(["index-pack", "--threads=1", path], { cwd, env: SCRATCH_ENV }).pipe(
    Effect.as([]),
    Effect.catchIf(isGitError, () => Effect.succeed(["one of its packs is not sound"])),
  );

/**
 * Makes a repository of our own with the objects of an agent's git directory in it, and the host's behind them. Resolves
 * with what could not be taken along.
 */
export const makeScratchRepository = Effect.fnUntraced(function* (
  repository: Repository,
  gitDirectory: string,
  path: string,
): Effect.fn.Return<string[], SandduneError> {
  const { commonDirectory, objectFormat, topLevel } = repository;
  yield* git(["init", "--quiet", "--template=", `--object-format=${objectFormat}`, "--", path], {
    cwd: topLevel,
  });
  const own = join(path, ".git");
  const stores = objectStores(commonDirectory);
  writeFileSync(join(own, "objects/info/alternates"), stores.map((store) => `${store}\n`).join(""));
  const shallow = join(commonDirectory, "shallow");
  if (existsSync(shallow)) copyFileSync(shallow, join(own, "shallow"));
  const { packPaths, problems } = yield* interruptible(
    () => copyObjects(join(gitDirectory, "objects"), join(own, "objects")),
    (reason) => reason as SandduneError,
  );
  const ofPacks = yield* Effect.forEach(packPaths, (pack) => indexPack(path, pack));
  return [...problems, ...ofPacks.flat()];
});

import { copyFileSync, existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as Effect from "effect/Effect";
import { ImportRefusedError, type SandduneError } from "../../errors.ts";
import { interruptible } from "../../process/interruptible.ts";
import { git } from "../git.ts";
import { objectStores } from "../objectStores.ts";
import { isGitError } from "../refs.ts";
import type { Repository } from "../repository.ts";
import { measurePack } from "../transfer/measurePack.ts";
import { copyObjects } from "./copyObjects.ts";

/** Git must not take one object for another, whatever the agent's refs are called. */
export const SCRATCH_ENV = { GIT_NO_REPLACE_OBJECTS: "1" } as const;

const HASH_BYTES: Readonly<Record<string, number>> = { sha1: 20, sha256: 32 };

/** Measured before git unpacks it, as every pack of an agent is. */
const indexPack = Effect.fnUntraced(function* (
  cwd: string,
  path: string,
  objectFormat: string,
): Effect.fn.Return<string[], SandduneError> {
  const measured = yield* interruptible(
    () => measurePack({ path, packOffset: 0 }, HASH_BYTES[objectFormat] ?? 20),
    (reason) => reason as SandduneError,
  ).pipe(
    Effect.as(undefined),
    Effect.catchIf(
      (error): error is ImportRefusedError => error instanceof ImportRefusedError,
      ({ problem }) =>
        Effect.sync(() => {
          rmSync(path);
          return `one of its packs was left out: ${problem}`;
        }),
    ),
  );
  if (measured !== undefined) return [measured];
  return yield* git(["index-pack", "--threads=1", path], { cwd, env: SCRATCH_ENV }).pipe(
    Effect.as([]),
    Effect.catchIf(isGitError, () => Effect.succeed(["one of its packs is not sound"])),
  );
});

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
  const ofPacks = yield* Effect.forEach(packPaths, (pack) => indexPack(path, pack, objectFormat));
  return [...problems, ...ofPacks.flat()];
});

import { appendFileSync, copyFileSync, existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as Effect from "effect/Effect";
import { interruptible } from "../../boundary/interruptible.ts";
import { ImportRefusedError, type SandduneError } from "../../errors.ts";
import { git } from "../git.ts";
import { isGitError } from "../refs.ts";
import type { Repository } from "../repository.ts";
import { objectStores } from "../sandboxDirectory/objectStores.ts";
import { measurePack } from "../transfer/bundle/measurePack.ts";
import { IMPORT_LIMITS, limitExceeded } from "../transfer/limits.ts";
import { copyObjects } from "./copyObjects.ts";

/** The agent's refs may be replacement refs, which git must not apply. */
export const SCRATCH_ENV = { GIT_NO_REPLACE_OBJECTS: "1" } as const;

const HASH_BYTES: Readonly<Record<string, number>> = { sha1: 20, sha256: 32 };

/** The result of indexing a pack. */
interface IndexedPack {
  readonly unpackedBytes: number;
  readonly problems: readonly string[];
}

/** Measures a pack before git unpacks it. The limit covers all objects of the scratch repository. */
const indexPack = Effect.fnUntraced(function* (
  cwd: string,
  path: string,
  objectFormat: string,
  bytesBefore: number,
): Effect.fn.Return<IndexedPack, SandduneError> {
  const limits = { ...IMPORT_LIMITS, unpackedBytes: IMPORT_LIMITS.unpackedBytes - bytesBefore };
  const measured = yield* interruptible(() =>
    measurePack({ path, packOffset: 0 }, HASH_BYTES[objectFormat] ?? 20, limits),
  ).pipe(
    Effect.catchIf(
      (error): error is ImportRefusedError => error instanceof ImportRefusedError,
      ({ problem }) => Effect.succeed(problem),
    ),
  );
  if (typeof measured === "string") {
    rmSync(path);
    return { unpackedBytes: 0, problems: [`one of its packs was left out: ${measured}`] };
  }
  const { unpackedBytes } = measured;
  return yield* git(["index-pack", "--threads=1", path], { cwd, env: SCRATCH_ENV }).pipe(
    Effect.as({ unpackedBytes, problems: [] }),
    Effect.catchIf(isGitError, () =>
      Effect.succeed({ unpackedBytes, problems: ["one of its packs is not sound"] }),
    ),
  );
});

/** Bounds the memory that git takes to find deltas. */
const SCRATCH_CONFIG = "[core]\n\tbigFileThreshold = 8m\n[pack]\n\tthreads = 1\n\twindowMemory = 64m\n";

/**
 * Creates a temporary repository with the objects of an agent's git directory, and the host's as alternates. Resolves
 * with descriptions of what could not be copied.
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
  appendFileSync(join(own, "config"), SCRATCH_CONFIG);
  const { packPaths, looseBytes, problems } = yield* interruptible(() =>
    copyObjects(join(gitDirectory, "objects"), join(own, "objects")),
  );
  if (looseBytes > IMPORT_LIMITS.unpackedBytes) {
    return yield* Effect.fail(limitExceeded("unpackedBytes", undefined));
  }
  let unpackedBytes = looseBytes;
  const found = [...problems];
  for (const packPath of packPaths) {
    const indexed = yield* indexPack(path, packPath, objectFormat, unpackedBytes);
    unpackedBytes += indexed.unpackedBytes;
    found.push(...indexed.problems);
  }
  return found;
});

import { tmpdir } from "node:os";
import * as Effect from "effect/Effect";
import { interruptible } from "../../boundary/interruptible.ts";
import { hostFileErrorAt } from "../../errors/hostFile.ts";
import { SandduneError } from "../../errors.ts";
import { type DeadDirectory, findDeadDirectories } from "../../sandboxes/directories/ownedDirectory.ts";
import type { Leftover } from "./leftover.ts";

const asError =
  (path: string) =>
  (reason: unknown): SandduneError =>
    reason instanceof SandduneError ? reason : hostFileErrorAt(path)(reason);

const leftoverOf = (directory: DeadDirectory): Effect.Effect<Leftover> => {
  const { path, runIds, remove } = directory;
  const leftover: Leftover = {
    what: "sandbox",
    name: `directory ${path}`,
    runIds,
    detail: "its process is dead",
    remove: interruptible(remove, asError(path)),
  };
  return interruptible((signal) => directory.describe(signal), asError(path)).pipe(
    Effect.map((sandboxes) => ({ ...leftover, name: [...sandboxes, leftover.name].join(", ") })),
    Effect.catch((error) => Effect.succeed({ ...leftover, keptBecause: error.message })),
  );
};

/** Finds what dead processes left outside repositories: directories of standalone sandboxes and of scenarios. */
export const findDeadDirectoryLeftovers: Effect.Effect<Leftover[], SandduneError> = interruptible(
  findDeadDirectories,
  asError(tmpdir()),
).pipe(Effect.flatMap((found) => Effect.forEach(found, leftoverOf, { concurrency: 8 })));

import { mkdirSync, statSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import * as Effect from "effect/Effect";
import { ImportRefusedError, type SandduneError } from "../../errors.ts";
import { git } from "../git.ts";
import type { Repository } from "../repository.ts";
import { objectStores } from "../sandboxDirectory/objectStores.ts";

/** Archives every file unchanged: `info/attributes` overrides the commit's `.gitattributes`. */
const ATTRIBUTES = "* -export-ignore -export-subst\n";

/** Creates an empty bare repository with the objects of another one as alternates. */
const writeBorrower = (path: string, { commonDirectory, objectFormat }: Repository): void => {
  for (const name of ["objects/info", "refs", "info"]) mkdirSync(join(path, name), { recursive: true });
  writeFileSync(join(path, "HEAD"), "ref: refs/heads/none\n");
  writeFileSync(
    join(path, "config"),
    `[core]\n\trepositoryformatversion = 1\n\tbare = true\n[extensions]\n\tobjectFormat = ${objectFormat}\n`,
  );
  writeFileSync(join(path, "objects/info/alternates"), `${objectStores(commonDirectory).join("\n")}\n`);
  writeFileSync(join(path, "info/attributes"), ATTRIBUTES);
};

/** Larger than most repositories. A small commit can be larger: many paths can have the same content. */
const MAX_BYTES = 4 * 1024 ** 3;
const LOOK_MS = 100;

/** Fails as soon as a file is too large. */
const untilTooLarge = (path: string, maxBytes: number): Effect.Effect<never, SandduneError> =>
  Effect.suspend(() =>
    (statSync(path, { throwIfNoEntry: false })?.size ?? 0) > maxBytes
      ? Effect.fail(new ImportRefusedError(`the files of one have more than ${maxBytes} bytes`, undefined))
      : Effect.sleep(LOOK_MS),
  ).pipe(Effect.forever);

/** Fails with an `ImportRefusedError` above `maxBytes`. Needs a temporary directory beside the archive. */
export const archiveCommit = (
  repository: Repository,
  commit: string,
  archivePath: string,
  maxBytes = MAX_BYTES,
): Effect.Effect<void, SandduneError> => {
  const borrower = `${archivePath}.git`;
  return Effect.sync(() => writeBorrower(borrower, repository)).pipe(
    Effect.andThen(
      git(["archive", "--format=tar", `--output=${archivePath}`, commit], {
        cwd: repository.topLevel,
        // Without the user's filters: the commit would decide which files pass through them.
        env: { GIT_DIR: borrower, GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_NOSYSTEM: "1" },
      }),
    ),
    Effect.raceFirst(untilTooLarge(archivePath, maxBytes)),
    Effect.ensuring(Effect.promise(() => rm(borrower, { recursive: true, force: true }))),
    Effect.asVoid,
  );
};

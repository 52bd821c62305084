import { mkdirSync, statSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import * as Effect from "effect/Effect";
import { ImportRefusedError, type SandduneError } from "../../errors.ts";
import { git } from "../git.ts";
import type { Repository } from "../repository.ts";
import { objectStores } from "../sandboxDirectory/objectStores.ts";

/** Every file as it is, whatever the commit itself says about archives: a repository's own attributes win over those in it. */
const ATTRIBUTES = "* -export-ignore -export-subst\n";

/** A repository without a past, that sees the objects of another one. */
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

/** More than a repository's files are. A commit of a few kilobytes can have far more: any number of its files can be the same one. */
const MAX_BYTES = 4 * 1024 ** 3;
const LOOK_MS = 100;

/** Fails as soon as a file is too large. */
const untilTooLarge = (path: string, maxBytes: number): Effect.Effect<never, SandduneError> =>
  Effect.suspend(() =>
    (statSync(path, { throwIfNoEntry: false })?.size ?? 0) > maxBytes
      ? Effect.fail(new ImportRefusedError(`the files of one have more than ${maxBytes} bytes`, undefined))
      : Effect.sleep(LOOK_MS),
  ).pipe(Effect.forever);

/**
 * Writes the files of a commit to an archive, by way of a directory of that name which does not stay. Fails with an
 * `ImportRefusedError` if that is too much for the host's disk.
 */
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
        // Not even a filter of the user's own: the commit decides which files would go through it.
        env: { GIT_DIR: borrower, GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_NOSYSTEM: "1" },
      }),
    ),
    Effect.raceFirst(untilTooLarge(archivePath, maxBytes)),
    Effect.ensuring(Effect.promise(() => rm(borrower, { recursive: true, force: true }))),
    Effect.asVoid,
  );
};

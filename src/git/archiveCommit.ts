import { mkdirSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import * as Effect from "effect/Effect";
import type { SandduneError } from "../errors.ts";
import { git } from "./git.ts";
import { objectStores } from "./objectStores.ts";
import type { Repository } from "./repository.ts";

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

/** Writes the files of a commit to an archive, by way of a directory of that name which does not stay. */
export const archiveCommit = (
  repository: Repository,
  commit: string,
  archivePath: string,
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
    Effect.ensuring(Effect.promise(() => rm(borrower, { recursive: true, force: true }))),
    Effect.asVoid,
  );
};

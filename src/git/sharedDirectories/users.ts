import { randomBytes } from "node:crypto";
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { orUndefined } from "../../tools/orUndefined.ts";
import { gitDirectoryParts } from "../gitDirectoryParts.ts";
import type { Repository } from "../repository.ts";

/** Holds a note for each run that uses a shared checkout or a kept set-up. */
export const USERS = "users";

/** The notes of runs that use a shared directory, with whether their own directory still exists. Even that of a dead run counts. */
const usersOf = (repository: Pick<Repository, "commonDirectory">, path: string) => {
  const users = join(path, USERS);
  return (existsSync(users) ? readdirSync(users) : []).map((name) => {
    const note = join(users, name);
    // A power cut may have emptied it.
    const directory = orUndefined(() => readFileSync(note, "utf8")) ?? "";
    return {
      note,
      exists: directory !== "" && existsSync(join(gitDirectoryParts(repository), directory)),
    };
  });
};

/** Whether any run uses a shared directory. Only the holder of the lock can rely on the answer. */
export const isUsed = (repository: Pick<Repository, "commonDirectory">, path: string): boolean =>
  usersOf(repository, path).some(({ exists }) => exists);

/** Notes a new user by its own directory, and forgets those that are gone. Returns the path of the note. */
export const noteUser = (repository: Repository, path: string, usersDirectory: string): string => {
  for (const { note, exists } of usersOf(repository, path)) if (!exists) rmSync(note, { force: true });
  const note = join(path, USERS, randomBytes(6).toString("hex"));
  writeFileSync(note, relative(gitDirectoryParts(repository), usersDirectory));
  return note;
};

import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import * as Effect from "effect/Effect";
import { expect, it } from "vitest";
import { openRepository } from "../../../src/git/repository.ts";
import { archiveCommit } from "../../../src/git/snapshots/archiveCommit.ts";
import { git, temporaryDirectory, temporaryRepository } from "../../helpers/repository/repository.ts";

/** The same megabyte, in a thousand files. */
const swollenCommit = (cwd: string): string => {
  const written = (input: string, ...args: string[]): string =>
    execFileSync("git", args, { cwd, input, encoding: "utf8" }).trimEnd();
  let object = written("x".repeat(1_000_000), "hash-object", "-w", "--stdin");
  for (const kind of ["100644 blob", "040000 tree", "040000 tree"]) {
    const entries = Array.from({ length: 10 }, (_, index) => `${kind} ${object}\tn${index}\n`);
    object = written(entries.join(""), "mktree");
  }
  return git(cwd, "commit-tree", "-p", "HEAD", "-m", "Swell", object);
};

it("does not let a small commit fill the host's disk", async () => {
  const cwd = temporaryRepository();
  const path = join(temporaryDirectory(), "commit.tar");
  const archiving = Effect.flatMap(openRepository(cwd), (repository) =>
    archiveCommit(repository, swollenCommit(cwd), path, 1_000_000),
  );
  await expect(Effect.runPromise(archiving)).rejects.toMatchObject({ name: "ImportRefusedError" });
  expect(existsSync(`${path}.git`)).toBe(false);
});

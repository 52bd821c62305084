import { writeFileSync } from "node:fs";
import { join } from "node:path";
import * as Effect from "effect/Effect";
import { expect, it } from "vitest";
import { summariseWork } from "../../src/git/workSummary.ts";
import { git, temporaryDirectory, temporaryRepository } from "../helpers/repository/repository.ts";

const commit = (cwd: string, subject: string, files: Record<string, string | Buffer>): string => {
  for (const [path, content] of Object.entries(files)) writeFileSync(join(cwd, path), content);
  git(cwd, "add", "--all");
  git(cwd, "commit", "--quiet", "-m", subject);
  return git(cwd, "rev-parse", "HEAD");
};

const summary = (cwd: string, commits: readonly string[]) => Effect.runPromise(summariseWork(cwd, commits));

it("has names and subjects of the commits, and what is different after all of them", async () => {
  const cwd = temporaryRepository();
  const base = git(cwd, "rev-parse", "HEAD");
  const first = commit(cwd, "Add a\tfile\n\nwith a body", {
    "a b\tc": "one\ntwo\n",
    "x.bin": Buffer.from([0]),
  });
  const second = commit(cwd, "Change it", { "a b\tc": "one\n" });
  expect(await summary(cwd, [first, second])).toEqual({
    commits: [
      { sha: first, short: git(cwd, "rev-parse", "--short", first), parent: base, subject: "Add a file" },
      { sha: second, short: git(cwd, "rev-parse", "--short", second), parent: first, subject: "Change it" },
    ],
    files: [{ path: "a b\tc", added: 1, deleted: 0 }, { path: "x.bin" }],
    base,
    currentBranch: "main",
  });
});

it.each(["sha1", "sha256"])(
  "begins with nothing where the first commit has no parent: %s",
  async (format) => {
    const cwd = temporaryDirectory();
    git(cwd, "init", "--quiet", `--object-format=${format}`);
    git(cwd, "config", "user.name", "x");
    git(cwd, "config", "user.email", "x@example.com");
    const root = commit(cwd, "Begin", { a: "a\n" });
    expect(await summary(cwd, [root])).toMatchObject({ files: [{ path: "a", added: 1 }] });
  },
);

it("describes the first ten of many commits", async () => {
  const cwd = temporaryRepository();
  const shas = Array.from({ length: 12 }, (_, number) =>
    commit(cwd, `Commit ${number}`, { a: `${number}\n` }),
  );
  const { commits, files } = (await summary(cwd, shas)) ?? {};
  expect(commits?.map(({ subject }) => subject)).toEqual(
    shas.slice(0, 10).map((_, index) => `Commit ${index}`),
  );
  expect(files).toEqual([{ path: "a", added: 1, deleted: 0 }]);
});

it("is nothing without commits, and where git does not know them", async () => {
  const cwd = temporaryRepository();
  expect(await summary(cwd, [])).toBeUndefined();
  expect(await summary(cwd, ["0123456789abcdef0123456789abcdef01234567"])).toBeUndefined();
});

it("is the same at the end of a run that is aborted", async () => {
  const cwd = temporaryRepository();
  const sha = commit(cwd, "Add a file", { a: "one\n" });
  let read: unknown;
  const aborter = new AbortController();
  const run = Effect.ensuring(
    Effect.sync(() => aborter.abort()).pipe(Effect.andThen(Effect.never)),
    Effect.map(summariseWork(cwd, [sha]), (summarised) => {
      read = summarised;
    }),
  );
  await expect(Effect.runPromise(run, { signal: aborter.signal })).rejects.toThrow();
  expect(read).toMatchObject({ commits: [{ subject: "Add a file" }], files: [{ path: "a" }] });
});

import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as Effect from "effect/Effect";
import { expect, it } from "vitest";
import { readRunHistory } from "../../src/git/runChanges.ts";
import { summariseWork } from "../../src/git/workSummary.ts";
import { gitCalls } from "../helpers/repository/gitCalls.ts";
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
      { sha: first, short: git(cwd, "rev-parse", "--short", first), subject: "Add a file" },
      { sha: second, short: git(cwd, "rev-parse", "--short", second), subject: "Change it" },
    ],
    files: [{ path: "a b\tc", added: 1, deleted: 0 }, { path: "x.bin" }],
    base,
    currentBranch: "main",
  });
});

it("asks git only for the files of commits that are described already, and for all of others", async () => {
  const cwd = temporaryRepository();
  const base = git(cwd, "rev-parse", "HEAD");
  const commits = [commit(cwd, "One", { a: "a\n" }), commit(cwd, "Two", { b: "b\n" })];
  const { commits: described } = await Effect.runPromise(readRunHistory(cwd, commits[1] as string, [base]));
  const [first = ""] = commits;
  const asked = await summary(cwd, commits);
  const calls = gitCalls();
  for (const [known, subcommands] of [
    [described, ["diff"]],
    [described.slice(1), ["log", "diff"]],
    [described.slice(0, 1), ["log", "diff"]],
  ] as const) {
    const before = calls.started().length;
    const told = await Effect.runPromise(summariseWork(cwd, commits, { branch: "main", described: known }));
    expect(told).toEqual(asked);
    expect(calls.started().slice(before)).toEqual(subcommands);
  }
  const one = { branch: "main", described };
  expect(await Effect.runPromise(summariseWork(cwd, [first], one))).toEqual(await summary(cwd, [first]));
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

it("compares a single merge with its first parent", async () => {
  const cwd = temporaryRepository();
  git(cwd, "switch", "--quiet", "-c", "side");
  commit(cwd, "Side", { side: "s\n" });
  git(cwd, "switch", "--quiet", "main");
  const base = commit(cwd, "Main", { main: "m\n" });
  git(cwd, "merge", "--quiet", "--no-ff", "-m", "Merge side", "side");
  const merge = git(cwd, "rev-parse", "HEAD");
  expect(await summary(cwd, [merge])).toMatchObject({
    commits: [{ subject: "Merge side" }],
    files: [{ path: "side", added: 1, deleted: 0 }],
    base,
  });
});

it("has no files for an empty commit", async () => {
  const cwd = temporaryRepository();
  git(cwd, "commit", "--quiet", "--allow-empty", "-m", "Nothing");
  const sha = git(cwd, "rev-parse", "HEAD");
  expect(await summary(cwd, [sha])).toMatchObject({ commits: [{ sha, subject: "Nothing" }], files: [] });
});

it("shows no signatures, and checks none, although the user has git do both", async () => {
  const cwd = temporaryRepository();
  const canary = join(temporaryDirectory(), "canary");
  const program = join(temporaryDirectory(), "gpg");
  writeFileSync(program, `#!/bin/sh\ntouch '${canary}'\necho a signature >&2\n`, { mode: 0o755 });
  git(cwd, "config", "log.showSignature", "true");
  git(cwd, "config", "gpg.program", program);
  const unsigned = git(cwd, "cat-file", "commit", "HEAD");
  const signature = "gpgsig -----BEGIN PGP SIGNATURE-----\n \n -----END PGP SIGNATURE-----";
  writeFileSync(join(cwd, "commit"), `${unsigned.replace("\n\n", `\n${signature}\n\n`)}\n`);
  const signed = git(cwd, "hash-object", "-t", "commit", "-w", "commit");
  for (const commits of [[signed], [signed, git(cwd, "rev-parse", "HEAD")]]) {
    const shown = (await summary(cwd, commits))?.commits.map(({ sha }) => sha);
    expect(shown).toEqual(commits);
  }
  expect(existsSync(canary)).toBe(false);
});

import * as Effect from "effect/Effect";
import { expect, it } from "vitest";
import { keepOtherRefs } from "../../../../src/git/transfer/import/keepOtherRefs.ts";
import { git, temporaryRepository } from "../../../helpers/repository/repository.ts";

const runId = "20300102-030405-abcdef";

const scene = () => {
  const cwd = temporaryRepository();
  const commit = (subject: string) => git(cwd, "commit-tree", "-p", "HEAD", "-m", subject, "HEAD^{tree}");
  return {
    commit,
    keep: (heads: Record<string, string>) =>
      Effect.runPromise(keepOtherRefs({ cwd, runId }, new Map(Object.entries(heads)), undefined)),
    held: () => git(cwd, "rev-list", "--all").split("\n"),
  };
};

it.each([
  ["a branch that was renamed", "refs/heads/a", "refs/heads/b"],
  ["a detached HEAD that has a branch now", "HEAD", "refs/heads/b"],
  ["a worktree's HEAD that has a tag now", "worktrees/w/HEAD", "refs/tags/t"],
])("keeps %s, although the former name stands for something else", async (_, former, present) => {
  const { commit, keep, held } = scene();
  const [one, two] = [commit("One"), commit("Two")];
  await keep({ [former]: one });
  const warnings = await keep({ [former]: two, [present]: one });
  expect(warnings).toHaveLength(2);
  expect(held()).toEqual(expect.arrayContaining([one, two]));
});

it("says nothing about what is kept already", async () => {
  const { commit, keep } = scene();
  const [one, two, three] = [commit("One"), commit("Two"), commit("Three")];
  await keep({ "refs/heads/a": one, "refs/heads/b": two });
  expect(await keep({ "refs/heads/a": one, "refs/heads/b": two })).toEqual([]);
  expect(await keep({ "refs/heads/a": one, "refs/heads/b": three })).toHaveLength(1);
});

it("names no command that would read the name of a branch as an option", async () => {
  const { commit, keep } = scene();
  const [warning] = await keep({ "refs/heads/-M": commit("One") });
  expect(warning).toContain('The agent also committed to "-M". That is kept as refs/sanddune/');
  expect(warning).not.toContain("git branch");
});

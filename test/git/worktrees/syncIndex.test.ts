import { appendFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { runAtBoundary } from "../../../src/boundary/boundary.ts";
import { syncIndex } from "../../../src/git/worktrees/syncIndex.ts";
import { git, temporaryDirectory, temporaryRepository } from "../../helpers/repository/repository.ts";
import { writeFiles } from "../../helpers/repository/writeFiles.ts";
import { commitFiles, statusOf } from "../commitFiles.ts";

/** A checkout whose branch an import has moved from one commit to another; the agent's files are in it already. */
const scene = (
  files: Readonly<Record<string, string>> = { "a.txt": "agent\n" },
  before: (cwd: string) => void = () => {},
) => {
  const cwd = temporaryRepository();
  before(cwd);
  const from = git(cwd, "rev-parse", "HEAD");
  const clone = join(temporaryDirectory(), "clone");
  git(cwd, "clone", "--quiet", cwd, clone);
  git(clone, "config", "user.name", "Agent");
  git(clone, "config", "user.email", "agent@example.com");
  const to = commitFiles(clone, files);
  git(cwd, "fetch", "--quiet", clone, "HEAD");
  return {
    cwd,
    from,
    to,
    /** Writes what the agent has written, and moves the branch. */
    land: () => {
      writeFiles(cwd, files);
      git(
        cwd,
        "update-ref",
        "--no-deref",
        git(cwd, "branch", "--show-current") ? "refs/heads/main" : "HEAD",
        to,
      );
    },
    sync: ({ branch }: { readonly branch: string | undefined } = { branch: "main" }) =>
      runAtBoundary(syncIndex({ checkoutPath: cwd, gitDirectory: join(cwd, ".git"), branch, from, to })),
  };
};

it("after the import nothing differs: neither files nor what is staged", async () => {
  const { cwd, land, sync } = scene({ "a.txt": "agent\n", "README.md": "agent\n", "é\n": "" });
  land();
  expect(statusOf(cwd)).not.toBe("");
  expect(await sync()).toBeUndefined();
  expect(statusOf(cwd)).toBe("");
});

it("files that the user has changed meanwhile show as changed", async () => {
  const { cwd, land, sync } = scene();
  land();
  appendFileSync(join(cwd, "a.txt"), "user\n");
  expect(await sync()).toBeUndefined();
  expect(statusOf(cwd)).toBe(" M a.txt");
  expect(readFileSync(join(cwd, "a.txt"), "utf8")).toBe("agent\nuser\n");
});

it("what the user has staged in another file stays staged", async () => {
  const { cwd, land, sync } = scene();
  writeFileSync(join(cwd, "mine.txt"), "");
  git(cwd, "add", "mine.txt");
  land();
  expect(await sync()).toBeUndefined();
  expect(statusOf(cwd)).toBe("A  mine.txt");
});

it("what the user has staged in the same file is left alone, and the sentence says so", async () => {
  const { cwd, land, sync } = scene({ "README.md": "agent\n" });
  writeFileSync(join(cwd, "README.md"), "user\n");
  git(cwd, "add", "README.md");
  const staged = git(cwd, "ls-files", "--stage");
  land();
  expect(await sync()).toContain(`The index of ${cwd} could not follow`);
  expect(git(cwd, "ls-files", "--stage")).toBe(staged);
});

it("an index that is locked is left alone, and the sentence names the lock", async () => {
  const { cwd, land, sync } = scene();
  land();
  writeFileSync(join(cwd, ".git/index.lock"), "");
  expect(await sync()).toContain("index.lock");
  expect(existsSync(join(cwd, ".git/index.lock"))).toBe(true);
});

it("the index of a branch that the user has switched to is not changed", async () => {
  const { cwd, land, sync } = scene();
  land();
  git(cwd, "symbolic-ref", "HEAD", "refs/heads/other");
  const staged = git(cwd, "ls-files", "--stage");
  expect(await sync()).toContain(`${cwd} was switched to another branch during the run`);
  expect(git(cwd, "ls-files", "--stage")).toBe(staged);
});

it("the index of a detached HEAD follows it", async () => {
  const { cwd, land, sync } = scene({ "a.txt": "agent\n" }, (cwd) =>
    git(cwd, "switch", "--quiet", "--detach"),
  );
  land();
  expect(await sync({ branch: undefined })).toBeUndefined();
  expect(statusOf(cwd)).toBe("");
});

it("a HEAD that is detached no longer is not taken for one that is", async () => {
  const { cwd, sync, to } = scene();
  expect(await sync({ branch: undefined })).toContain(`The agent's commits are on ${to}`);
  expect(statusOf(cwd)).toBe("");
});

it("line ends that git converts do not show as changes", async () => {
  const { cwd, land, sync } = scene({ "a.txt": "one\ntwo\n" }, (cwd) =>
    git(cwd, "config", "core.autocrlf", "true"),
  );
  land();
  writeFileSync(join(cwd, "a.txt"), "one\r\ntwo\r\n");
  expect(await sync()).toBeUndefined();
  expect(statusOf(cwd)).toBe("");
});

import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, renameSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as Effect from "effect/Effect";
import { describe, expect, it } from "vitest";
import { hasUnimportedCommits } from "../../../src/git/recovery/unimportedCommits.ts";
import { openRepository } from "../../../src/git/repository.ts";
import { git, temporaryDirectory, temporaryRepository } from "../../helpers/repository/repository.ts";

/** A repository, and a copy in which an agent has worked. */
const scene = () => {
  const host = temporaryRepository();
  const agent = join(temporaryDirectory(), "agent");
  cpSync(host, agent, { recursive: true });
  return { host, agent, directory: join(agent, ".git") };
};
type Scene = ReturnType<typeof scene>;

const commit = ({ agent }: Scene, subject = "New"): void => {
  git(agent, "commit", "--quiet", "--allow-empty", "-m", subject);
};

const isUnknown = ({ host, directory }: Scene): Promise<boolean> =>
  Effect.runPromise(
    Effect.flatMap(openRepository(host), (repository) => hasUnimportedCommits(repository, directory)),
  );

/** Gives the host everything that the agent has, under a name. */
const bringHome = ({ host, agent }: Scene, ref: string): void => {
  git(host, "fetch", "--quiet", agent, `HEAD:${ref}`);
};

const UNKNOWN = "1".repeat(40);

describe("a git directory of an agent", () => {
  it.each<[string, (scene: Scene) => void]>([
    ["is as it was", () => {}],
    ["is not there", ({ directory }) => rmSync(directory, { recursive: true })],
    ["has new names for old commits", ({ agent }) => git(agent, "tag", "old")],
    ["has packed its refs", ({ agent }) => git(agent, "pack-refs", "--all")],
    [
      "has commits that are home on a branch",
      (scene) => {
        commit(scene);
        bringHome(scene, "refs/heads/home");
      },
    ],
    [
      "has commits that are home under a ref of a run",
      (scene) => {
        commit(scene);
        bringHome(scene, "refs/sanddune/runs/x/tip");
      },
    ],
    [
      "has replaced its own commits by others that are home",
      (scene) => {
        commit(scene);
        git(scene.agent, "commit", "--quiet", "--amend", "--allow-empty", "-m", "Amended");
        bringHome(scene, "refs/heads/home");
      },
    ],
    [
      "was locked by a process that was killed",
      ({ directory }) => writeFileSync(join(directory, "refs/heads/x.lock"), ""),
    ],
    [
      "had a stash that was dropped",
      ({ agent }) => {
        writeFileSync(join(agent, "README.md"), "changed\n");
        git(agent, "stash", "--quiet");
        git(agent, "stash", "drop", "--quiet");
      },
    ],
  ])("that %s holds nothing unknown", async (_, work) => {
    const given = scene();
    work(given);
    expect(await isUnknown(given)).toBe(false);
  });

  it.each<[string, (scene: Scene) => void]>([
    ["a new commit", commit],
    [
      "a new commit in packed refs",
      (scene) => {
        commit(scene);
        git(scene.agent, "pack-refs", "--all");
      },
    ],
    [
      "a new commit at a detached HEAD",
      (scene) => {
        git(scene.agent, "switch", "--quiet", "--detach");
        commit(scene);
      },
    ],
    [
      "a stash below another one",
      (scene) => {
        for (const text of ["one\n", "two\n"]) {
          writeFileSync(join(scene.agent, "README.md"), text);
          git(scene.agent, "stash", "--quiet");
        }
        // The one on top is home, the one below is named by the log alone.
        git(scene.host, "fetch", "--quiet", scene.agent, "refs/stash:refs/heads/stashed");
      },
    ],
    [
      "a commit whose objects are home, but that no ref leads to",
      (scene) => {
        commit(scene);
        bringHome(scene, "refs/heads/gone");
        git(scene.host, "update-ref", "-d", "refs/heads/gone");
      },
    ],
    [
      "a new commit on the detached HEAD of a linked worktree",
      (scene) => {
        const linked = join(temporaryDirectory(), "linked");
        git(scene.agent, "worktree", "add", "--quiet", "--detach", linked);
        git(linked, "commit", "--quiet", "--allow-empty", "-m", "Linked");
      },
    ],
    [
      "a new commit on a detached HEAD that was left",
      (scene) => {
        git(scene.agent, "switch", "--quiet", "--detach");
        commit(scene);
        git(scene.agent, "switch", "--quiet", "main");
      },
    ],
    [
      "a new commit outside of refs/heads",
      (scene) => {
        git(scene.agent, "switch", "--quiet", "--detach");
        commit(scene);
        git(scene.agent, "update-ref", "refs/far/away", "HEAD");
        git(scene.agent, "reflog", "expire", "--expire=now", "--all");
        git(scene.agent, "switch", "--quiet", "main");
      },
    ],
    ["a tag with a message of its own", ({ agent }) => git(agent, "tag", "-a", "v1", "-m", "Notes")],
    ["a ref that was emptied", ({ directory }) => writeFileSync(join(directory, "refs/heads/x"), "")],
    ["a ref that is garbage", ({ directory }) => writeFileSync(join(directory, "refs/heads/x"), "garbage\n")],
    ["a HEAD that is garbage", ({ directory }) => writeFileSync(join(directory, "HEAD"), "garbage\n")],
    ["a file commondir", ({ directory }) => writeFileSync(join(directory, "commondir"), "/elsewhere\n")],
    ["a ref to nothing", ({ directory }) => writeFileSync(join(directory, "refs/heads/x"), `${UNKNOWN}\n`)],
    [
      "a ref that is a link",
      ({ directory }) => symlinkSync(join(directory, "HEAD"), join(directory, "refs/heads/x")),
    ],
    [
      "a link in place of its refs",
      ({ directory }) => {
        renameSync(join(directory, "refs"), join(directory, "elsewhere"));
        symlinkSync("elsewhere", join(directory, "refs"));
      },
    ],
    [
      "packed refs that are a link to something that never ends",
      ({ directory }) => {
        rmSync(join(directory, "packed-refs"), { force: true });
        symlinkSync("/dev/zero", join(directory, "packed-refs"));
      },
    ],
    [
      "packed refs of a hundred megabytes",
      ({ directory }) => {
        writeFileSync(join(directory, "packed-refs"), "");
        truncateSync(join(directory, "packed-refs"), 100 * 1024 * 1024);
      },
    ],
    ["refs in a format that only git can read", ({ directory }) => mkdirSync(join(directory, "reftable"))],
    [
      "a pipe in place of a ref",
      ({ directory }) => execFileSync("mkfifo", [join(directory, "refs/heads/x")]),
    ],
    [
      "more than ten thousand refs",
      ({ directory }) => {
        const many = join(directory, "refs/many");
        mkdirSync(many);
        execFileSync("sh", ["-c", "seq 10001 | xargs touch"], { cwd: many });
      },
    ],
  ])("that has %s may hold something unknown", async (_, work) => {
    const given = scene();
    work(given);
    expect(await isUnknown(given)).toBe(true);
  });
});

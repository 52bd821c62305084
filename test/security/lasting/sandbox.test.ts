import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { type Sandbox, SandduneError } from "../../../src/index.ts";
import { describeSideBySide } from "../../helpers/processes/sideBySide.ts";
import { git, temporaryDirectory, temporaryRepository } from "../../helpers/repository/repository.ts";
import { needsRuntimes } from "../../helpers/runtimes/runtimes.ts";
import { ALL_PAYLOADS } from "../git/gitPayloads.ts";
import { meetingPoint, shell } from "../support.ts";
import {
  asUser,
  BRANCH,
  canaries,
  commitAsUser,
  EVERY_DAY,
  ending,
  openSandbox,
  playIn,
  subjects,
} from "./lasting.ts";

needsRuntimes("bubblewrap");

/** Many calls one after the other, beside other tests. */
const MANY_CALLS = { timeout: 120_000 };

describeSideBySide("what run 1 has planted in a sandbox that lasts", () => {
  it(
    "runs for nobody on the host: not for later calls, not for the user between them, not after close()",
    MANY_CALLS,
    async () => {
      const cwd = temporaryRepository();
      const { fire, fired } = canaries();
      const dirty = shell("echo dirty > uncommitted.txt; echo more >> README.md");
      const sandbox = await openSandbox(cwd);
      const plant = shell(ALL_PAYLOADS.plant(fire));
      await playIn(sandbox, plant, { commit: "One", files: { "one.txt": "1\n" } }, dirty);
      asUser(sandbox.worktreePath, EVERY_DAY);
      await ending(playIn(sandbox, { commit: "Two", files: { "two.txt": "2\n" } }, dirty));
      asUser(sandbox.worktreePath, "git add README.md; git commit -m Mine; git checkout HEAD~1 -- README.md");
      await ending(sandbox.exec("git status"));
      expect(fired()).toEqual([]);
      const { preservedWorktreePath = cwd } = await sandbox.close();
      asUser(preservedWorktreePath, EVERY_DAY);
      const next = await openSandbox(cwd);
      await ending(playIn(next, { commit: "Three" }));
      asUser(next.worktreePath, EVERY_DAY);
      await next.close();
      asUser(cwd, `git merge --quiet --no-edit ${BRANCH}; ${EVERY_DAY}`);
      expect(fired()).toEqual([]);
      expect(subjects(cwd, BRANCH)).toEqual(expect.arrayContaining(["Three", "Two", "One"]));
    },
  );
});

describeSideBySide("files of the sandbox's git directory that run 1 replaces", () => {
  const OWN_FILES = [
    "sanddune-export.report",
    "sanddune-export.bundle",
    "sanddune-ready-0",
    "sanddune-known-commits",
  ];
  const GIT_FILES = ["index", "packed-refs", `refs/heads/${BRANCH}`];
  type Replace = (file: string, hostFile: string) => string;
  const byLink: Replace = (file, hostFile) => `ln -s ${hostFile} ${file}`;
  const byDirectory: Replace = (file) => `mkdir -p ${file}/x; touch ${file}/x/y`;
  const byHoles: Replace = (file) => `truncate -s 256M ${file}`;
  const byFifo: Replace = (file) => `mkfifo ${file}`;

  const prepare = async () => {
    const cwd = temporaryRepository();
    const hostFile = join(temporaryDirectory(), "host-file");
    const content = `${git(cwd, "rev-parse", "HEAD")}\ncomplete\n`;
    writeFileSync(hostFile, content);
    const sandbox = await openSandbox(cwd);
    await playIn(sandbox, { commit: "One" });
    const attack = (files: readonly string[], replace: Replace) => {
      const script = files.map(
        (file) => `rm -rf ${file}; mkdir -p "$(dirname ${file})"; ${replace(file, hostFile)}`,
      );
      return ending(sandbox.exec(["cd /sanddune/git", ...script].join("\n"), { timeoutMs: 2000 }));
    };
    const expectKept = () => {
      expect(readFileSync(hostFile, "utf8")).toBe(content);
      expect(subjects(cwd, BRANCH)).toContain("By the user");
      expect(subjects(cwd, "--all")).toContain("One");
    };
    return { cwd, sandbox, attack, expectKept };
  };

  const expectEnd = async (sandbox: Sandbox, endings: readonly unknown[]): Promise<void> => {
    commitAsUser(sandbox.worktreePath, "By the user");
    const last = [await ending(sandbox.exec("true", { timeoutMs: 5000 })), await ending(sandbox.close())];
    for (const outcome of [...endings, ...last]) {
      if (outcome instanceof Error) expect(outcome).toBeInstanceOf(SandduneError);
    }
  };

  it(
    "where sanddune has its own: nothing hangs, and no host file is read or written",
    MANY_CALLS,
    async () => {
      const attackWith = async (replace: Replace) => {
        const { cwd, sandbox, attack, expectKept } = await prepare();
        const endings: unknown[] = [];
        for (const file of OWN_FILES) {
          endings.push(await attack([file], replace));
          endings.push(await ending(playIn(sandbox, { commit: `After ${file}` })));
        }
        await expectEnd(sandbox, endings);
        expectKept();
        expect(subjects(cwd, "--all")).toContain("After sanddune-export.report");
      };
      await Promise.all([byLink, byDirectory, byHoles, byFifo].map(attackWith));
    },
  );

  it("where git has its own: nothing hangs, and no host file is read or written", MANY_CALLS, async () => {
    const attackWith = async (replace: Replace, files: readonly string[]) => {
      const { sandbox, attack, expectKept } = await prepare();
      const attacked = await attack(files, replace);
      await expectEnd(sandbox, [attacked, await ending(playIn(sandbox, { text: "Here again." }))]);
      expectKept();
    };
    await Promise.all([
      attackWith(byLink, GIT_FILES),
      attackWith(byDirectory, GIT_FILES),
      attackWith(byHoles, ["index"]),
      attackWith(byFifo, ["index"]),
    ]);
  });
});

describeSideBySide("a git directory in which git waits for ever", () => {
  const TRAPS: [string, string][] = [
    ["HEAD is a FIFO", "rm HEAD; mkfifo HEAD"],
    ["the configuration is a FIFO", "rm config; mkfifo config"],
    [
      "a hook of ref updates sleeps",
      "mkdir -p hooks; printf '#!/bin/sh\\nsleep 1000\\n' > hooks/reference-transaction; chmod +x hooks/*",
    ],
    ["the list of known commits is a FIFO", "rm sanddune-known-commits; mkfifo sanddune-known-commits"],
  ];

  it.each(TRAPS)("%s: commands without a time limit come to an end, and so does close()", async (_, trap) => {
    const cwd = temporaryRepository();
    const sandbox = await openSandbox(cwd);
    await playIn(sandbox, { commit: "One" });
    await ending(sandbox.exec(`cd /sanddune/git; ${trap}`, { timeoutMs: 3000 }));
    await ending(sandbox.exec("true"));
    expect(await ending(sandbox.close())).toMatchObject({ warnings: expect.any(Array) });
    expect(subjects(cwd, BRANCH)).toEqual(["One", "Initial commit"]);
  });
});

describeSideBySide("commits on the branch of a sandbox that lasts", () => {
  it("of the user stay on it when they came during a run, whatever is called afterwards", async () => {
    const cwd = temporaryRepository();
    const { sandboxes, wait, meet } = meetingPoint();
    const sandbox = await openSandbox(cwd, { sandbox: sandboxes.bubblewrap() });
    const running = ending(playIn(sandbox, { commit: "Agent" }, wait));
    await meet(() => void commitAsUser(sandbox.worktreePath, "User"));
    expect(await running).toMatchObject({ name: "BranchMovedError" });
    await ending(sandbox.exec("true"));
    await sandbox.close();
    expect(subjects(cwd, BRANCH)).toEqual(["User", "Initial commit"]);
    const kept = git(cwd, "for-each-ref", "--format=%(contents:subject)", "refs/sanddune");
    expect(kept.split("\n")).toContain("Agent");
  });

  it("are the same after an agent has pruned and deleted all it could", async () => {
    const cwd = temporaryRepository();
    const sandbox = await openSandbox(cwd);
    const rampage = shell(
      "git worktree prune --expire=now; git tag evil; git branch -D main",
      "git reflog expire --expire=now --all; git gc --quiet --prune=now; git update-ref -d refs/heads/main",
    );
    await playIn(sandbox, { commit: "One", files: { "1.txt": "1\n" } }, rampage);
    const { commits } = await playIn(sandbox, { commit: "Two", files: { "2.txt": "2\n" } });
    expect(commits).toHaveLength(1);
    await sandbox.close();
    expect(subjects(cwd, BRANCH)).toEqual(["Two", "One", "Initial commit"]);
    git(cwd, "fsck", "--strict");
  });

  it.each([
    ["goes on from there", shell("true")],
    ["brings the lost commit back", shell("git reset --quiet --hard ORIGINAL")],
    ["makes the same files anew", { commit: "Again", files: { "big.txt": "x".repeat(5000) } }],
  ])(
    "may be rewritten and pruned by the user between two runs: an agent that %s loses nothing",
    async (_, step) => {
      const cwd = temporaryRepository();
      const sandbox = await openSandbox(cwd);
      const files = { "big.txt": "x".repeat(5000) };
      const { commits } = await playIn(sandbox, { commit: "One", files });
      asUser(
        sandbox.worktreePath,
        "git reset --quiet --hard HEAD~1; git commit --quiet --allow-empty -m User",
      );
      asUser(cwd, "git reflog expire --expire=now --all; git gc --quiet --prune=now");
      const second = "shell" in step ? shell(step.shell.replace("ORIGINAL", commits[0]?.sha ?? "")) : step;
      const outcome = await ending(playIn(sandbox, second, { commit: "Two", files: { "2.txt": "2\n" } }));
      await sandbox.close();
      git(cwd, "fsck", "--connectivity-only");
      if (outcome instanceof Error) {
        expect(outcome).toBeInstanceOf(SandduneError);
        const kept = readdirSync(join(cwd, ".sanddune/runs"), { recursive: true }).map(String);
        expect(kept.some((path) => /files\/git\/HEAD$/.test(path))).toBe(true);
      } else expect(git(cwd, "show", `${BRANCH}:2.txt`)).toBe("2");
    },
  );
});

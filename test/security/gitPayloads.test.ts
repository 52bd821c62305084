import { execFileSync } from "node:child_process";
import { chmodSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { shellQuote } from "../../src/process/shellQuote.ts";
import { git, temporaryDirectory, temporaryRepository } from "../helpers/repository.ts";
import { describeWith } from "../helpers/runtimes.ts";
import { fireOnHost, PAYLOADS } from "./gitPayloads.ts";
import { meetingPoint, play, SANDBOXES, STRATEGIES, shell } from "./support.ts";

const ONE_EACH = PAYLOADS.map((payload) => ({ ...payload, payload }));

const sh = (cwd: string, script: string): void => {
  try {
    execFileSync("sh", ["-c", script], { cwd, stdio: "ignore" });
  } catch {
    // Whether the user's own command succeeds is not the question.
  }
};

/** What a user does every day, in a repository that agents have worked in. */
const useAsEveryDay = (cwd: string): void =>
  sh(cwd, "git status; git diff HEAD; git log -p -3 --stat; git stash list; git branch -vv");

/** A repository with a user's commit to merge with, and a place for canaries that no sandbox sees. */
const prepare = () => {
  const canaries = temporaryDirectory();
  const fire = (name: string) => fireOnHost(join(canaries, name));
  return { cwd: temporaryRepository(), fired: () => readdirSync(canaries), fire };
};

it.each(ONE_EACH)("control: $name runs where it is planted in the user's own repository", ({ payload }) => {
  const { cwd, fire, fired } = prepare();
  sh(cwd, payload.plant(fire(payload.name)));
  sh(cwd, payload.trigger);
  expect(fired()).toEqual([payload.name]);
});

describeWith(["bubblewrap"], "payloads planted by an agent", () => {
  it.each(ONE_EACH)(
    "$name never runs on the host, not even in a worktree that is kept and reused",
    async ({ payload }) => {
      const { cwd, fire, fired } = prepare();
      const plant = shell(payload.plant(fire(payload.name)));
      const first = await play(
        cwd,
        ({ iteration }) => [
          plant,
          { commit: `Commit ${iteration}`, files: { [`work-${iteration}.txt`]: "verbatim $Id$\r\nend" } },
          shell("echo dirty > uncommitted.txt; echo more >> README.md"),
        ],
        { branchStrategy: STRATEGIES.branch, maxIterations: 2 },
      );
      expect(first.preservedWorktreePath).toBeDefined();
      useAsEveryDay(cwd);
      const second = await play(cwd, [shell("git add --all"), { commit: "Tidy up" }], {
        branchStrategy: STRATEGIES.branch,
      });
      expect(fired()).toEqual([]);
      useAsEveryDay(cwd);
      sh(cwd, "git merge --quiet --no-edit agent/work");
      useAsEveryDay(cwd);
      expect(fired()).toEqual([]);
      expect(second.commits.length).toBeGreaterThanOrEqual(1);
      expect(git(cwd, "cat-file", "blob", "agent/work:work-1.txt")).toBe("verbatim $Id$\r\nend");
    },
  );

  it.each(ONE_EACH)("$name does not wait for the user in a kept worktree", async ({ payload }) => {
    const { cwd, fire, fired } = prepare();
    const { preservedWorktreePath } = await play(
      cwd,
      [shell(payload.plant(fire(payload.name))), { commit: "Work" }, shell("echo dirty > uncommitted.txt")],
      { branchStrategy: STRATEGIES.branch },
    );
    sh(preservedWorktreePath as string, `git status; git diff HEAD; git add --all; git commit -m Mine`);
    expect(fired()).toEqual([]);
  });

  it.each(["head", "merge-to-head"] as const)(
    "none runs on the host with %s, nor for the user after it",
    async (strategy) => {
      const { cwd, fire, fired } = prepare();
      for (const { name, plant } of PAYLOADS) {
        await play(
          cwd,
          ({ iteration }) => [
            shell(plant(fire(`${name}`))),
            { commit: "Commit", files: { [`${name}-${iteration}.txt`]: "text\n" } },
          ],
          { branchStrategy: STRATEGIES[strategy], maxIterations: 2 },
        );
        useAsEveryDay(cwd);
      }
      expect(fired()).toEqual([]);
    },
  );

  it("a worktree that one kind of sandbox left is safe to take into the other", async () => {
    const { cwd, fire, fired } = prepare();
    const branchStrategy = STRATEGIES.branch;
    for (const { name, plant } of PAYLOADS) {
      await play(
        cwd,
        [shell(plant(fire(name))), { commit: "Commit" }, shell("echo dirty > uncommitted.txt")],
        {
          branchStrategy,
        },
      );
      await play(cwd, [shell("echo more >> uncommitted.txt")], {
        branchStrategy,
        sandbox: SANDBOXES.isolated(),
      }).catch(() => undefined);
      expect(fired()).toEqual([]);
      sh(cwd, "git worktree remove --force --force .sanddune/worktrees/*; git branch -D agent/work");
    }
  });
});

describeWith(["bubblewrap"], "repositories inside a checkout that a head run works in", () => {
  /** Puts a git directory of the agent's where the user's own `.git` file was. */
  const replaceGitFile = (directory: string, fire: string) =>
    shell(
      `rm -f ${directory}/.git && git init --quiet ${directory} && cd ${directory} && git config user.name Evil && git config user.email e@example.com`,
      "git add . && git commit --quiet -m Evil",
      `git config core.fsmonitor ${shellQuote(`${fire}; :`)}`,
    );

  it("a submodule of the user's cannot be turned against them", async () => {
    const { cwd, fire, fired } = prepare();
    git(
      cwd,
      "-c",
      "protocol.file.allow=always",
      "submodule",
      "--quiet",
      "add",
      temporaryRepository(),
      "library",
    );
    git(cwd, "commit", "--quiet", "-m", "Submodule");
    const before = readFileSync(join(cwd, "library/.git"), "utf8");
    await play(cwd, [replaceGitFile("library", fire("submodule"))]);
    useAsEveryDay(cwd);
    expect(fired()).toEqual([]);
    expect(readFileSync(join(cwd, "library/.git"), "utf8")).toBe(before);
  });

  it("a linked worktree of the user's cannot be turned against them", async () => {
    const { cwd, fire, fired } = prepare();
    git(cwd, "worktree", "add", "--quiet", "-b", "linked", "linked");
    const before = readFileSync(join(cwd, "linked/.git"), "utf8");
    await play(cwd, [replaceGitFile("linked", fire("linked"))]);
    useAsEveryDay(join(cwd, "linked"));
    expect(fired()).toEqual([]);
    expect(readFileSync(join(cwd, "linked/.git"), "utf8")).toBe(before);
  });
});

/** A run for each payload and strategy. */
const MANY_RUNS = { timeout: 300_000 };

it("nothing that is planted in an isolated sandbox runs on the host", MANY_RUNS, async () => {
  const { cwd, fire, fired } = prepare();
  for (const strategy of ["merge-to-head", "branch"] as const) {
    for (const { name, plant } of PAYLOADS) {
      await play(
        cwd,
        ({ iteration }) => [
          shell(plant(fire(`${strategy}-${name}`))),
          { commit: "Commit", files: { [`${name}-${iteration}.txt`]: "text\n" } },
          shell("echo dirty > uncommitted.txt"),
        ],
        { branchStrategy: STRATEGIES[strategy], maxIterations: 2, sandbox: SANDBOXES.isolated() },
      ).catch(() => undefined);
      useAsEveryDay(cwd);
    }
  }
  expect(fired()).toEqual([]);
});

it("the user's own signing still works for the merge commit", async () => {
  const cwd = temporaryRepository();
  const tools = temporaryDirectory();
  const program = join(tools, "gpg");
  writeFileSync(
    program,
    `#!/bin/sh\ncat > /dev/null\necho signed >> ${tools}/used\nprintf '\\n[GNUPG:] SIG_CREATED \\n' >&2\necho '-----BEGIN PGP SIGNATURE-----\n\nmine\n-----END PGP SIGNATURE-----'\n`,
  );
  chmodSync(program, 0o755);
  git(cwd, "config", "gpg.program", program);
  git(cwd, "config", "commit.gpgsign", "true");
  const { sandboxes, wait, meet } = meetingPoint();
  const running = play(cwd, [wait, { commit: "Agent", files: { "agent.txt": "a\n" } }], {
    branchStrategy: STRATEGIES["merge-to-head"],
    sandbox: sandboxes.isolated(),
  });
  await meet(
    () => void git(cwd, "-c", "commit.gpgsign=false", "commit", "--quiet", "--allow-empty", "-m", "User"),
  );
  await running;
  expect(readFileSync(join(tools, "used"), "utf8")).toBe("signed\n");
  expect(git(cwd, "cat-file", "commit", "main")).toMatch(/^gpgsig -----BEGIN PGP SIGNATURE-----$/m);
});

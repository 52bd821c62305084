import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { HookFailedError } from "../../../src/index.ts";
import { leftovers } from "../../helpers/processes/leftovers.ts";
import { git, temporaryRepository } from "../../helpers/repository/repository.ts";
import { describeWith } from "../../helpers/runtimes/runtimes.ts";
import {
  failureOf,
  play,
  SANDBOXES,
  type SandboxName,
  STRATEGIES,
  type StrategyName,
  shell,
  worktreesOf,
} from "../../security/support.ts";

const original = { ...process.env };
afterEach(() => {
  for (const key of Object.keys(process.env)) if (!(key in original)) delete process.env[key];
});

const COMMIT = "echo h > from-hook.txt && git add from-hook.txt && git commit --quiet -m 'By the hook'";
const onWorktreeReady = (...commands: string[]) => ({
  hooks: { host: { onWorktreeReady: commands.map((command) => ({ command })) } },
});

const BRANCHES = { branch: "agent/work", "merge-to-head": "main", head: "main" } as const;

const runsOf = (name: SandboxName, strategy: StrategyName) => {
  const cwd = temporaryRepository();
  return {
    cwd,
    branch: BRANCHES[strategy],
    options: { sandbox: SANDBOXES[name](), branchStrategy: STRATEGIES[strategy] },
    subjects: () => git(cwd, "log", "--reverse", "--format=%s", BRANCHES[strategy]).split("\n"),
  };
};

/** Tests that are needed once for each of several combinations. */
const onEach = (
  cases: readonly [SandboxName, StrategyName][],
  body: (...args: [SandboxName, StrategyName]) => void,
) => {
  for (const [name, strategy] of cases) {
    describeWith(name === "bubblewrap" ? ["bubblewrap"] : [], `on ${name} with ${strategy},`, () =>
      body(name, strategy),
    );
  }
};

onEach(
  [
    ["bubblewrap", "merge-to-head"],
    ["bubblewrap", "head"],
    ["isolated", "branch"],
  ],
  (name, strategy) => {
    it("a commit that host.onWorktreeReady makes is what the agent starts from; so is a submodule that it checks out, or it is missed aloud", async () => {
      const { cwd, branch, options, subjects } = runsOf(name, strategy);
      const allowed = ["-c", "protocol.file.allow=always"];
      git(cwd, ...allowed, "submodule", "--quiet", "add", temporaryRepository(), "library");
      git(cwd, "commit", "--quiet", "-m", "A library");
      git(cwd, "submodule", "--quiet", "deinit", "--force", "library");
      const update = `git ${allowed.join(" ")} submodule --quiet update --init`;
      const result = await play(
        cwd,
        [
          shell("git log -1 --format=%s > seen.txt; git status --porcelain -- . ':!seen.txt' >> seen.txt"),
          shell("cat library/README.md >> seen.txt"),
          { commit: "By the agent" },
        ],
        { ...options, ...onWorktreeReady(COMMIT, update) },
      );
      const library = name === "isolated" ? "" : "\n# Fixture";
      expect(git(cwd, "show", `${branch}:seen.txt`)).toBe(`By the hook${library}`);
      if (name === "isolated") expect(result.warnings.join("\n")).toContain("Submodules");
      expect(git(cwd, "show", "--format=", "--name-only", branch)).toBe("seen.txt");
      expect(subjects()).toEqual(["Initial commit", "A library", "By the hook", "By the agent"]);
      expect(result.commits).toEqual([{ sha: git(cwd, "rev-parse", branch) }]);
    });
  },
);

onEach(
  [
    ["bubblewrap", "branch"],
    ["isolated", "merge-to-head"],
  ],
  (name, strategy) => {
    it("a commit that host.onWorktreeReady makes arrives although the agent commits nothing", async () => {
      const { cwd, options, subjects } = runsOf(name, strategy);
      await play(cwd, [{ text: "nothing to do" }], { ...options, ...onWorktreeReady(COMMIT) });
      expect(subjects()).toEqual(["Initial commit", "By the hook"]);
      expect(git(cwd, "status", "--porcelain")).toBe("");
      expect(leftovers(cwd)).toEqual([]);
    });
  },
);

onEach(
  [
    ["bubblewrap", "head"],
    ["isolated", "merge-to-head"],
  ],
  (name, strategy) => {
    it("a commit that host.onWorktreeReady makes is still on a branch when the next hook fails", async () => {
      const { cwd, options } = runsOf(name, strategy);
      const error = await failureOf(
        play(cwd, [{ text: "never" }], { ...options, ...onWorktreeReady(COMMIT, "exit 3") }),
      );
      expect(error).toBeInstanceOf(HookFailedError);
      expect(git(cwd, "log", "--branches", "--format=%s")).toContain("By the hook");
      expect(git(cwd, "show", `${error.branch}:from-hook.txt`)).toBe("h");
    });
  },
);

it("a commit that host.onWorktreeReady makes goes to the worktree's branch although the host's environment names another repository", async () => {
  const { cwd, options, subjects } = runsOf("isolated", "branch");
  const elsewhere = temporaryRepository();
  process.env["GIT_DIR"] = join(elsewhere, ".git");
  process.env["GIT_INDEX_FILE"] = join(elsewhere, ".git/index");
  const running = play(cwd, [{ text: "ok" }], { ...options, ...onWorktreeReady(COMMIT) });
  await running.finally(() => {
    delete process.env["GIT_DIR"];
    delete process.env["GIT_INDEX_FILE"];
  });
  expect(git(elsewhere, "log", "--format=%s")).toBe("Initial commit");
  expect(subjects()).toEqual(["Initial commit", "By the hook"]);
});

onEach(
  [
    ["bubblewrap", "branch"],
    ["bubblewrap", "head"],
    ["isolated", "branch"],
  ],
  (name, strategy) => {
    it("a repository that host.onWorktreeReady makes in the worktree is the user's own, left as it is, and cannot be armed by the agent", async () => {
      const { cwd, options } = runsOf(name, strategy);
      const nested = "git init --quiet vendor && git -C vendor config user.nested yes";
      const arm = "git -C vendor config core.fsmonitor 'touch armed' || echo refused > refused.txt";
      const result = await play(cwd, [shell("mkdir theirs && git init --quiet theirs/agent"), shell(arm)], {
        ...options,
        ...onWorktreeReady(nested),
      });
      const checkout = result.preservedWorktreePath ?? cwd;
      expect(git(join(checkout, "vendor"), "config", "user.nested")).toBe("yes");
      expect(readFileSync(join(checkout, "vendor/.git/config"), "utf8")).not.toContain("fsmonitor");
      expect(existsSync(join(checkout, "theirs/agent/.git"))).toBe(false);
      expect(result.warnings.filter((warning) => warning.includes("vendor"))).toEqual([]);
    });
  },
);

describe("a hook that fails", () => {
  const sandbox = SANDBOXES.isolated();
  const FAILING = {
    "host.onWorktreeReady": onWorktreeReady("echo precious > work.txt", "exit 3").hooks,
    "host.onSandboxReady": {
      host: { onSandboxReady: [{ command: "echo precious > work.txt" }, { command: "exit 3" }] },
    },
    "sandbox.onSandboxReady": {
      sandbox: { onSandboxReady: [{ command: "echo precious > work.txt" }, { command: "exit 3" }] },
    },
  };
  it.each(Object.entries(FAILING))(
    "keeps a worktree with changes in it, and says where: %s",
    async (_, hooks) => {
      const cwd = temporaryRepository();
      const error = await failureOf(
        play(cwd, [{ text: "never" }], { sandbox, branchStrategy: STRATEGIES.branch, hooks }),
      );
      expect(error).toBeInstanceOf(HookFailedError);
      const kept = error.preservedWorktreePath as string;
      expect(worktreesOf(cwd)).toEqual([cwd, kept]);
      expect(readFileSync(join(kept, "work.txt"), "utf8")).toBe("precious\n");
      expect(readFileSync(error.logFilePath as string, "utf8")).toContain(`Worktree kept at ${kept}`);
    },
  );

  it("says which directory the branch does not have, if that is why", async () => {
    const cwd = temporaryRepository();
    const sub = join(cwd, "new-package");
    mkdirSync(sub);
    const options = { sandbox, branchStrategy: STRATEGIES.branch, ...onWorktreeReady("true") };
    const error = await failureOf(play(sub, [{ text: "never" }], options));
    expect(error.message).toContain("new-package");
    expect(leftovers(cwd)).toEqual([]);
  });
});

it("what host.onSandboxReady writes into the worktree of an isolated sandbox is not lost", async () => {
  const cwd = temporaryRepository();
  const result = await play(
    cwd,
    [{ commit: "By the agent", files: { "a.txt": "a\n" } }, shell("echo open > open.txt")],
    {
      sandbox: SANDBOXES.isolated(),
      branchStrategy: STRATEGIES.branch,
      hooks: { host: { onSandboxReady: [{ command: "echo late > late.txt" }] } },
    },
  );
  const kept = result.preservedWorktreePath as string;
  expect(readFileSync(join(kept, "late.txt"), "utf8")).toBe("late\n");
  expect(readFileSync(join(kept, "open.txt"), "utf8")).toBe("open\n");
});

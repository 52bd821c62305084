import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { bubblewrap } from "../../src/sandboxes/bubblewrap.ts";
import type { SandboxProvider } from "../../src/sandboxes/contract.ts";
import { docker } from "../../src/sandboxes/docker.ts";
import type { MountOption } from "../../src/sandboxes/mountOptions.ts";
import { testIsolated } from "../../src/sandboxes/test-isolated.ts";
import { leftovers } from "../helpers/leftovers.ts";
import { git, temporaryDirectory, temporaryRepository } from "../helpers/repository.ts";
import { describeWith, type Runtime, TEST_IMAGE } from "../helpers/runtimes.ts";
import { play, STRATEGIES, shell } from "../security/support.ts";

type MakeSandbox = (mounts?: readonly MountOption[]) => SandboxProvider;
const SANDBOXES: [string, Runtime[], MakeSandbox][] = [
  ["bubblewrap", ["bubblewrap"], (mounts = []) => bubblewrap({ mounts })],
  ["docker", ["docker"], (mounts = []) => docker({ image: TEST_IMAGE, mounts })],
  ["test-isolated", [], () => testIsolated()],
];
const branchStrategy = STRATEGIES.branch;
const committed = (cwd: string, path: string) => git(cwd, "show", `agent/work:${path}`);

/** A directory that host and sandbox see at the same path. */
const sharedDirectory = () => {
  const directory = temporaryDirectory();
  return {
    directory,
    mounts: [{ hostPath: directory, sandboxPath: directory }],
    read: (name: string) => readFileSync(join(directory, name), "utf8").trim(),
  };
};

for (const [name, runtimes, make] of SANDBOXES) {
  describeWith(runtimes, `hooks around the ${name} sandbox`, () => {
    it("run list by list, each in its order, before the agent", async () => {
      const cwd = temporaryRepository();
      const { directory, read } = sharedDirectory();
      const say = (word: string, file = "order.txt") => ({ command: `echo ${word} >> ${file}` });
      await play(cwd, [shell("echo agent >> order.txt"), { commit: "Order" }], {
        sandbox: make(),
        branchStrategy,
        hooks: {
          host: {
            onWorktreeReady: [say("one"), say("two"), say("three")],
            onSandboxReady: [say("first", `${directory}/host`), say("second", `${directory}/host`)],
          },
          sandbox: { onSandboxReady: [say("four"), say("five")] },
        },
      });
      expect(committed(cwd, "order.txt")).toBe("one\ntwo\nthree\nfour\nfive\nagent");
      expect(read("host")).toBe("first\nsecond");
      expect(leftovers(cwd)).toEqual([]);
    });

    it("host.onWorktreeReady finds the copied files, in the worktree, and no sandbox yet", async () => {
      const cwd = temporaryRepository();
      writeFileSync(join(cwd, ".env.local"), "KEY=1\n");
      const { directory, read } = sharedDirectory();
      const provider = make();
      let hookHadRun: boolean | undefined;
      const create = (options: never) => {
        hookHadRun = existsSync(join(directory, "pwd"));
        return provider.create(options);
      };
      await play(cwd, [shell("cat .env > seen.txt"), { commit: "Seen" }], {
        sandbox: { ...provider, create } as SandboxProvider,
        branchStrategy,
        copyToWorktree: [".env.local"],
        hooks: {
          host: { onWorktreeReady: [{ command: `mv .env.local .env && pwd > ${directory}/pwd` }] },
        },
      });
      expect(read("pwd").startsWith(join(cwd, ".sanddune/worktrees/"))).toBe(true);
      expect(hookHadRun).toBe(true);
      expect(committed(cwd, "seen.txt")).toBe("KEY=1");
    });

    it("host.onSandboxReady and sandbox.onSandboxReady run at the same time", async () => {
      const { directory, mounts } = sharedDirectory();
      const meet = (mine: string, other: string) => ({
        command: `touch ${directory}/${mine}; until [ -e ${directory}/${other} ]; do sleep 0.02; done`,
        timeoutMs: 20_000,
      });
      const result = await play(temporaryRepository(), [{ text: "they have met" }], {
        sandbox: make(mounts),
        branchStrategy,
        hooks: {
          host: { onSandboxReady: [meet("host", "sandbox"), meet("host2", "sandbox2")] },
          sandbox: { onSandboxReady: [meet("sandbox", "host"), meet("sandbox2", "host2")] },
        },
      });
      expect(result.stdout).toBe("they have met\n");
    });

    it("start in the sub-directory that cwd names", async () => {
      const cwd = temporaryRepository();
      mkdirSync(join(cwd, "packages/a"), { recursive: true });
      writeFileSync(join(cwd, "packages/a/index.txt"), "");
      git(cwd, "add", ".");
      git(cwd, "commit", "--quiet", "-m", "A package");
      const { directory, read } = sharedDirectory();
      await play(join(cwd, "packages/a"), [{ commit: "All" }], {
        sandbox: make(),
        branchStrategy,
        hooks: {
          host: {
            onWorktreeReady: [{ command: "touch from-host" }],
            onSandboxReady: [{ command: `pwd > ${directory}/pwd` }],
          },
          sandbox: { onSandboxReady: [{ command: "touch from-sandbox" }] },
        },
      });
      expect(git(cwd, "ls-tree", "-r", "--name-only", "agent/work").split("\n")).toEqual([
        "README.md",
        "packages/a/from-host",
        "packages/a/from-sandbox",
        "packages/a/index.txt",
      ]);
      expect(read("pwd")).toMatch(/\.sanddune\/worktrees\/[^/]+\/packages\/a$/);
    });

    it("what sandbox hooks install outside the worktree is there for the agent", async () => {
      const cwd = temporaryRepository();
      await play(cwd, [shell('sh "$HOME/tool" > said.txt'), { commit: "Said" }], {
        sandbox: make(),
        branchStrategy,
        hooks: { sandbox: { onSandboxReady: [{ command: `echo 'echo installed' > "$HOME/tool"` }] } },
      });
      expect(committed(cwd, "said.txt")).toBe("installed");
    });

    it("sandbox hooks have the run's env vars, host hooks have not", async () => {
      const { directory, mounts, read } = sharedDirectory();
      const tell = (who: string) => [{ command: `echo "[$GREETING]" > ${directory}/${who}` }];
      await play(temporaryRepository(), [{ text: "ok" }], {
        sandbox: make(mounts),
        branchStrategy,
        env: { GREETING: { public: "hello" } },
        hooks: {
          host: { onWorktreeReady: tell("worktree"), onSandboxReady: tell("host") },
          sandbox: { onSandboxReady: tell("sandbox") },
        },
      });
      expect([read("worktree"), read("host"), read("sandbox")]).toEqual(["[]", "[]", "[hello]"]);
    });

    it("everything that hooks print is in the run log, and harmless there", async () => {
      const print = (who: string) => [
        { command: `echo ${who}-out; echo ${who}-err >&2; printf '\\033]0;title\\007'` },
      ];
      const result = await play(temporaryRepository(), [{ text: "ok" }], {
        sandbox: make(),
        branchStrategy,
        hooks: {
          host: { onWorktreeReady: print("first"), onSandboxReady: print("second") },
          sandbox: { onSandboxReady: print("third") },
        },
      });
      const log = readFileSync(result.logFilePath as string, "utf8");
      for (const [hook, who] of [
        ["host.onWorktreeReady", "first"],
        ["host.onSandboxReady", "second"],
        ["sandbox.onSandboxReady", "third"],
      ] as const) {
        expect(log).toMatch(new RegExp(`\\[${hook}\\] ${who}-out\\n`));
        expect(log).toMatch(new RegExp(`\\[${hook}\\] ${who}-err\\n`));
      }
      expect(log).not.toMatch(/[\x07\x1b]/);
      expect(result.stdout).toBe("ok\n");
    });
  });
}

describeWith(["bubblewrap"], "hooks with the head strategy", () => {
  it("run in the user's own checkout", async () => {
    const cwd = temporaryRepository();
    const { directory, read } = sharedDirectory();
    await play(cwd, [{ commit: "Prepared" }], {
      branchStrategy: STRATEGIES.head,
      hooks: {
        host: {
          onWorktreeReady: [{ command: "touch prepared" }],
          onSandboxReady: [{ command: `pwd > ${directory}/pwd` }],
        },
        sandbox: { onSandboxReady: [{ command: "touch made-in-sandbox" }] },
      },
    });
    expect(read("pwd")).toBe(cwd);
    expect(git(cwd, "ls-tree", "--name-only", "main").split("\n")).toEqual([
      "README.md",
      "made-in-sandbox",
      "prepared",
    ]);
    expect(leftovers(cwd)).toEqual([]);
  });
});

import { existsSync, lstatSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import {
  ClosedError,
  type CreateSandboxOptions,
  createIsolatedSandboxProvider,
  createSandbox,
  type EnvVars,
  InvalidOptionsError,
  type Sandbox,
  SandboxError,
  SandboxLostError,
  scripted,
} from "../../../src/index.ts";
import { bubblewrap } from "../../../src/sandboxes/bubblewrap.ts";
import type { IsolatedSandboxHandle, SandboxProvider } from "../../../src/sandboxes/contract.ts";
import { docker } from "../../../src/sandboxes/docker.ts";
import { podman } from "../../../src/sandboxes/podman.ts";
import { testIsolated } from "../../../src/sandboxes/test-isolated.ts";
import { subjectsOf } from "../../cli/fixtures.ts";
import { leftovers } from "../../helpers/processes/leftovers.ts";
import { git, temporaryDirectory, temporaryRepository } from "../../helpers/repository/repository.ts";
import { describeWith, type Runtime, TEST_IMAGE } from "../../helpers/runtimes/runtimes.ts";
import { callClient } from "../../sandboxes/containers/containers.ts";

const SANDBOXES: [string, Runtime[], (env: EnvVars) => SandboxProvider][] = [
  ["docker", ["docker"], (env) => docker({ imageName: TEST_IMAGE, env })],
  ["podman", ["podman"], (env) => podman({ imageName: TEST_IMAGE, env })],
  ["bubblewrap", ["bubblewrap"], (env) => bubblewrap({ env })],
  ["test-isolated", [], (env) => testIsolated({ env })],
];

/** Not the refs by which the original keeps its own work. */
const filesLeftIn = (cwd: string): string[] =>
  leftovers(cwd).filter((item) => item.startsWith("runs/") || item.startsWith("worktree"));

const TIMEOUT_MS = 240_000;

const repository = (): string => {
  const cwd = temporaryRepository();
  writeFileSync(join(cwd, ".gitignore"), "node_modules\n");
  writeFileSync(join(cwd, "tracked"), "committed\n");
  git(cwd, "add", ".");
  git(cwd, "commit", "--quiet", "-m", "Add files");
  return cwd;
};

const open = async (cwd: string, options: Partial<CreateSandboxOptions> = {}): Promise<Sandbox> => {
  const sandbox = await createSandbox({ branch: "agent/work", sandbox: testIsolated(), cwd, ...options });
  onTestFinished(async () => void (await sandbox.close()));
  return sandbox;
};

const fork = async (sandbox: Sandbox, ...args: Parameters<Sandbox["fork"]>): Promise<Sandbox[]> => {
  const forks = await sandbox.fork(...args);
  for (const each of forks) onTestFinished(async () => void (await each.close()));
  return forks;
};

const shell = async (sandbox: Sandbox, command: string): Promise<string> => {
  const { exitCode, stdout, stderr } = await sandbox.exec(command);
  expect(exitCode, stderr).toBe(0);
  return stdout;
};

/** State of every kind: commits, the index, files of every kind, HOME, temporary files. */
const MAKE_STATE = `set -e
git commit -q --allow-empty -m "Work of the original"
echo changed >tracked
echo staged >staged; git add staged; echo later >staged
mkdir -p node_modules/.bin "odd
name"; echo '#!/bin/sh' >node_modules/.bin/tool; chmod 751 node_modules/.bin/tool
touch -d '2001-02-03 04:05:06.789 UTC' node_modules/.bin/tool
echo x >"odd
name/file"; ln -s /nowhere dangling
echo stash >stashed; git add stashed; git stash push -q -- stashed
mkdir -p "$HOME/.cache"; echo home >"$HOME/.cache/file"
echo temporary >"\${TMPDIR:-/tmp}/file"`;

const SHOW_STATE = `git log --format=%s; git status --porcelain; git diff --cached; git stash list | wc -l
cat tracked staged node_modules/.bin/tool "odd
name/file"; readlink dangling; stat -c '%a %y' node_modules/.bin/tool
cat "$HOME/.cache/file" "\${TMPDIR:-/tmp}/file"; echo "$KEY"`;

const commits = (text: string) => scripted([{ commit: text, files: { [`${text}.txt`]: "x\n" } }]);

for (const [name, runtimes, provider] of SANDBOXES) {
  describeWith(runtimes, `forks of a ${name} sandbox`, () => {
    it(
      "have the same state, branches of their own, and are independent of each other and of the original",
      async () => {
        const cwd = repository();
        const images = name === "docker" || name === "podman" ? name : undefined;
        const sandbox = await open(cwd, { sandbox: provider({ KEY: "a value" }), env: { OTHER: "x" } });
        await shell(sandbox, MAKE_STATE);
        const state = await shell(sandbox, SHOW_STATE);
        const forks = await fork(sandbox, 3, { name: "forked" });
        expect(forks.map(({ branch }) => branch)).toEqual(["agent/work-1", "agent/work-2", "agent/work-3"]);
        expect(new Set([sandbox, ...forks].map(({ runId }) => runId)).size).toBe(4);
        for (const each of forks) {
          expect(await shell(each, SHOW_STATE)).toBe(state);
          expect(await shell(each, "git branch --show-current")).toBe(`${each.branch}\n`);
        }
        // Each goes its own way, and so does the original.
        const results = await Promise.all(
          forks.map((each, index) => each.run({ agent: commits(`fork-${index}`), prompt: "x" })),
        );
        expect(results.map((result) => result.commits.length)).toEqual([1, 1, 1]);
        await shell(sandbox, 'echo original >tracked; echo original >"$HOME/.cache/file"');
        await sandbox.run({ agent: commits("original"), prompt: "x" });
        for (const [index, each] of forks.entries()) {
          expect(await shell(each, 'cat tracked "$HOME/.cache/file"')).toBe("changed\nhome\n");
          expect(subjectsOf(cwd, each.branch)[0]).toBe(`fork-${index}`);
          expect(subjectsOf(cwd, each.branch)).toContain("Work of the original");
          expect(subjectsOf(cwd, each.branch)).not.toContain("original");
        }
        expect(subjectsOf(cwd, "agent/work")[0]).toBe("original");
        await shell(forks[0] as Sandbox, "echo left >tracked");
        // They outlive the original, and closing one touches no other.
        await sandbox.close();
        expect(await shell(forks[0] as Sandbox, "cat tracked")).toBe("left\n");
        await forks[0]?.close();
        expect(await shell(forks[1] as Sandbox, "cat tracked")).toBe("changed\n");
        const closed = await Promise.all(forks.map((each) => each.close()));
        expect(closed.map(({ commits: made }) => made.length)).toEqual([1, 1, 1]);
        const [kept] = closed.map(({ preservedWorktreePath }) => preservedWorktreePath);
        expect(kept).toBe(forks[0]?.worktreePath);
        expect(readFileSync(join(kept ?? "", "tracked"), "utf8")).toBe("left\n");
        if (images !== undefined) {
          const label = `label=sanddune.repository=${cwd}`;
          expect(callClient(images, "image", "ls", "--all", "--quiet", "--filter", label)).toBe("");
          expect(callClient(images, "ps", "--all", "--quiet", "--filter", label)).toBe("");
        }
        expect(leftovers(cwd).filter((item) => item.startsWith("runs/"))).toEqual([]);
      },
      TIMEOUT_MS,
    );
  });
}

const cannotFork = () =>
  createIsolatedSandboxProvider({
    name: "plain",
    create: async (options) => {
      const { snapshot: _, ...handle } = await testIsolated().create(options);
      return handle;
    },
  });

describe("sandbox.fork()", () => {
  it(
    "refuses bad counts and branches before anything is created",
    async () => {
      const cwd = repository();
      git(cwd, "branch", "taken");
      git(cwd, "branch", "agent/work-2");
      const sandbox = await open(cwd);
      const before = [git(cwd, "for-each-ref", "refs/heads"), filesLeftIn(cwd)];
      const wrong: Parameters<Sandbox["fork"]>[] = [
        [0],
        [33],
        [1.5],
        ["2" as never],
        [2, { branches: ["one"] }],
        [2, { branches: ["one", "one"] }],
        [2, { branches: ["one", "one/two"] }],
        [1, { branches: ["taken"] }],
        [1, { branches: ["taken/below"] }],
        [1, { branches: ["a b"] }],
        [1, { branches: [7 as never] }],
        [1, { other: true } as never],
      ];
      for (const args of wrong) await expect(sandbox.fork(...args)).rejects.toThrow(InvalidOptionsError);
      expect([git(cwd, "for-each-ref", "refs/heads"), filesLeftIn(cwd)]).toEqual(before);
      const forks = await fork(sandbox, 2);
      expect(forks.map(({ branch }) => branch)).toEqual(["agent/work-1", "agent/work-3"]);
    },
    TIMEOUT_MS,
  );

  it(
    "names the provider that cannot keep the state of a sandbox, and those that can",
    async () => {
      const cwd = repository();
      const sandbox = await open(cwd, { sandbox: cannotFork() });
      const forking = sandbox.fork(1);
      await expect(forking).rejects.toThrow(SandboxError);
      await expect(forking).rejects.toThrow(/plain sandbox: it cannot be forked.*docker, podman, bubblewrap/);
    },
    TIMEOUT_MS,
  );

  it(
    "creates all forks or none, and leaves nothing of the others; the original continues",
    async () => {
      const cwd = repository();
      let count = 0;
      const failing = createIsolatedSandboxProvider({
        name: "failing",
        create: (options) => {
          if (options.snapshot !== undefined && ++count === 3)
            throw new SandboxError("failing", "there is no room");
          return testIsolated().create(options);
        },
      });
      const sandbox = await open(cwd, { sandbox: failing });
      await shell(sandbox, "echo x >untracked");
      const before = [git(cwd, "for-each-ref", "refs/heads"), filesLeftIn(cwd)];
      const error = await sandbox.fork(3).catch((reason: unknown) => reason);
      expect(error).toMatchObject({ runId: sandbox.runId, branch: "agent/work" });
      expect((error as Error).message).toMatch(
        /there is no room[\s\S]*\nNone of the 3 forks was created; the sandbox on agent\/work is unchanged\.$/,
      );
      expect([git(cwd, "for-each-ref", "refs/heads"), filesLeftIn(cwd)]).toEqual(before);
      expect(await shell(sandbox, "cat untracked")).toBe("x\n");
    },
    TIMEOUT_MS,
  );

  it(
    "can be aborted while commits are imported: the sandbox stays usable, and nothing is kept",
    async () => {
      const cwd = repository();
      const controller = new AbortController();
      const reason = new Error("enough");
      let isForking = false;
      const aborting = createIsolatedSandboxProvider({
        ...testIsolated(),
        create: async (options) => {
          const handle = await testIsolated().create(options);
          const exec: typeof handle.exec = (...args) => {
            if (isForking) controller.abort(reason);
            return handle.exec(...args);
          };
          return { ...handle, exec };
        },
      });
      const sandbox = await open(cwd, { sandbox: aborting });
      await shell(sandbox, "true");
      isForking = true;
      await expect(sandbox.fork(1, { signal: controller.signal })).rejects.toBe(reason);
      isForking = false;
      expect(await shell(sandbox, "cat tracked")).toBe("committed\n");
      const { preservedWorktreePath, warnings } = await sandbox.close();
      expect({ preservedWorktreePath, warnings }).toEqual({ preservedWorktreePath: undefined, warnings: [] });
      expect(filesLeftIn(cwd)).toEqual([]);
    },
    TIMEOUT_MS,
  );

  it(
    "can be aborted: it rejects with the reason and leaves nothing",
    async () => {
      const cwd = repository();
      const controller = new AbortController();
      const reason = new Error("never mind");
      const aborting = createIsolatedSandboxProvider({
        name: "aborting",
        create: async (options) => {
          const handle = await testIsolated().create(options);
          if (options.snapshot !== undefined) controller.abort(reason);
          return handle;
        },
      });
      const sandbox = await open(cwd, { sandbox: aborting });
      const before = [git(cwd, "for-each-ref", "refs/heads"), filesLeftIn(cwd)];
      await expect(sandbox.fork(2, { signal: controller.signal })).rejects.toBe(reason);
      expect([git(cwd, "for-each-ref", "refs/heads"), filesLeftIn(cwd)]).toEqual(before);
      expect(await shell(sandbox, "echo works")).toBe("works\n");
    },
    TIMEOUT_MS,
  );

  it(
    "waits for its turn, and has the work of the call before it",
    async () => {
      const cwd = repository();
      let go = () => {};
      const mayGo = new Promise<void>((resolve) => {
        go = resolve;
      });
      const stdin = (async function* () {
        await mayGo;
        yield Buffer.from("go\n");
      })();
      const sandbox = await open(cwd);
      const settled: string[] = [];
      const waits = "read go; echo late >late; git add late; git commit -qm Late";
      const before = sandbox.exec(waits, { stdin }).then(() => settled.push("exec"));
      const forking = fork(sandbox, 1).finally(() => settled.push("fork"));
      const after = sandbox.exec("git branch --show-current").finally(() => settled.push("later exec"));
      go();
      const [[forked], { stdout }] = await Promise.all([forking, after, before]);
      expect(settled).toEqual(["exec", "fork", "later exec"]);
      expect(stdout).toBe("agent/work\n");
      expect(subjectsOf(cwd, forked?.branch ?? "")[0]).toBe("Late");
    },
    TIMEOUT_MS,
  );

  it(
    "is stopped by close(): nothing of the forks is left, and later calls are refused",
    async () => {
      const cwd = repository();
      let closing: Promise<unknown> | undefined;
      const sandbox: Sandbox = await open(cwd, {
        sandbox: createIsolatedSandboxProvider({
          name: "closing",
          create: async (options) => {
            const handle = await testIsolated().create(options);
            if (options.snapshot !== undefined) closing ??= sandbox.close();
            return handle;
          },
        }),
      });
      const before = git(cwd, "for-each-ref", "refs/heads");
      await expect(sandbox.fork(2)).rejects.toThrow(ClosedError);
      expect(await closing).toEqual({ commits: [], warnings: [] });
      await expect(sandbox.fork(1)).rejects.toThrow(ClosedError);
      expect(git(cwd, "for-each-ref", "refs/heads")).toBe(before);
      expect(leftovers(cwd)).toEqual([]);
    },
    TIMEOUT_MS,
  );

  it(
    "of a lost sandbox says that it was lost, and keeps its work",
    async () => {
      const cwd = repository();
      const handles: IsolatedSandboxHandle[] = [];
      const sandbox = await open(cwd, {
        sandbox: createIsolatedSandboxProvider({
          name: "losing",
          create: async (options) => {
            const handle = await testIsolated().create(options);
            handles.push(handle);
            return handle;
          },
        }),
      });
      await shell(sandbox, "echo mine >mine; git commit -q --allow-empty -m Work");
      await handles[0]?.close();
      await expect(sandbox.fork(1)).rejects.toThrow(SandboxLostError);
      expect(subjectsOf(cwd, "agent/work")[0]).toBe("Work");
      expect(readFileSync(join((await sandbox.close()).preservedWorktreePath ?? "", "mine"), "utf8")).toBe(
        "mine\n",
      );
      expect(git(cwd, "branch", "--list", "agent/work-*")).toBe("");
    },
    TIMEOUT_MS,
  );

  it(
    "can be called on a fork, and all are closed in any order",
    async () => {
      const cwd = repository();
      const sandbox = await open(cwd);
      await shell(sandbox, "echo first >state");
      const [child] = await fork(sandbox, 1);
      await shell(child as Sandbox, "echo second >>state; git commit -q --allow-empty -m Second");
      const [grandchild] = await fork(child as Sandbox, 1);
      expect(grandchild?.branch).toBe("agent/work-1-1");
      await child?.close();
      expect(await shell(grandchild as Sandbox, "cat state; git log -1 --format=%s")).toBe(
        "first\nsecond\nSecond\n",
      );
      await sandbox.close();
      const run = await grandchild?.run({ agent: commits("third"), prompt: "x" });
      expect(run?.commits).toHaveLength(1);
      expect(subjectsOf(cwd, "agent/work-1-1").slice(0, 2)).toEqual(["third", "Second"]);
      expect(subjectsOf(cwd, "agent/work-1")[0]).toBe("Second");
      await grandchild?.close();
      expect(leftovers(cwd).filter((item) => item.startsWith("runs/"))).toEqual([]);
    },
    TIMEOUT_MS,
  );
});

describeWith(["bubblewrap"], "a fork of a sandbox whose agent is hostile", () => {
  it(
    "copies no file through a link that an agent has made, and disarms its repositories",
    async () => {
      const cwd = repository();
      const secret = join(temporaryDirectory(), "secret");
      writeFileSync(secret, "host secret\n");
      const sandbox = await open(cwd, { sandbox: bubblewrap() });
      await shell(
        sandbox,
        `ln -s ${secret} link; ln -s ${secret} "$HOME/link"; git init -q nested; git -C nested config core.fsmonitor 'touch ${secret}.ran'
rm -rf .git/hooks 2>/dev/null; true`,
      );
      const [forked] = await fork(sandbox, 1);
      expect(lstatSync(join(forked?.worktreePath ?? "", "link")).isSymbolicLink()).toBe(true);
      git(forked?.worktreePath ?? "", "status");
      git(join(forked?.worktreePath ?? "", "nested"), "status");
      expect(existsSync(`${secret}.ran`)).toBe(false);
    },
    TIMEOUT_MS,
  );
});

import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, expect, it } from "vitest";
import type { RunResult } from "../../../src/index.ts";
import { bubblewrap } from "../../../src/sandboxes/bubblewrap.ts";
import type { SandboxProvider } from "../../../src/sandboxes/contract.ts";
import { docker } from "../../../src/sandboxes/docker.ts";
import type { MountOption } from "../../../src/sandboxes/mounts/resolveMounts.ts";
import { testIsolated } from "../../../src/sandboxes/test-isolated.ts";
import { leftovers } from "../../helpers/processes/leftovers.ts";
import { processIsAlive, waitFor } from "../../helpers/processes/waiting.ts";
import { git, temporaryDirectory, temporaryRepository } from "../../helpers/repository/repository.ts";
import { describeWith, type Runtime, TEST_IMAGE } from "../../helpers/runtimes/runtimes.ts";
import { play, STRATEGIES, shell } from "../../security/support.ts";

type MakeSandbox = (mounts?: readonly MountOption[]) => SandboxProvider;
const SANDBOXES: [string, Runtime[], MakeSandbox][] = [
  ["bubblewrap", ["bubblewrap"], (mounts = []) => bubblewrap({ mounts })],
  ["docker", ["docker"], (mounts = []) => docker({ imageName: TEST_IMAGE, mounts })],
  ["test-isolated", [], () => testIsolated()],
];
const branchStrategy = STRATEGIES.branch;

/** A repository with a package in it, and an untracked file in that. */
const makeRepository = (cwd: string): void => {
  mkdirSync(join(cwd, "packages/a"), { recursive: true });
  writeFileSync(join(cwd, "packages/a/index.txt"), "");
  git(cwd, "init", "--quiet", "--initial-branch=main");
  git(cwd, "config", "user.name", "Dev");
  git(cwd, "config", "user.email", "dev@example.com");
  git(cwd, "add", ".");
  git(cwd, "commit", "--quiet", "-m", "A package");
  writeFileSync(join(cwd, "packages/a/.env.local"), "KEY=1\n");
};

/** One run in a package of a repository, with hooks of every kind, which leave word in a directory that all of them see. */
const playScene = async (root: string, make: MakeSandbox) => {
  const [cwd, directory] = [join(root, "repository"), join(root, "shared")];
  mkdirSync(directory);
  makeRepository(cwd);
  const provider = make([{ hostPath: directory, sandboxPath: directory }]);
  let hadRun: boolean | undefined;
  const create = (options: never) => {
    hadRun = existsSync(join(directory, "worktree-pwd"));
    return provider.create(options);
  };
  const say = (word: string, file = "order.txt") => ({ command: `echo ${word} >> ${file}` });
  const meet = (mine: string, other: string) => ({
    command: `touch ${directory}/${mine}; until [ -e ${directory}/${other} ]; do sleep 0.02; done`,
    timeoutMs: 20_000,
  });
  const report = (who: string) => ({
    command: `pwd > ${directory}/${who}-pwd; echo "[$GREETING]" > ${directory}/${who}-env
      echo ${who}-out; echo ${who}-err >&2; printf '\\033]0;title\\007'`,
  });
  const steps = [
    shell('echo agent >> order.txt; sh "$HOME/tool" > said.txt; cat .env > seen.txt'),
    { commit: "All" },
    { text: "ok" },
  ];
  const result = await play(join(cwd, "packages/a"), steps, {
    sandbox: { ...provider, create } as SandboxProvider,
    branchStrategy,
    copyToWorktree: [".env.local"],
    env: { GREETING: { public: "hello" } },
    hooks: {
      host: {
        onWorktreeReady: [say("one"), say("two"), { command: "mv .env.local .env" }, report("worktree")],
        onSandboxReady: [
          say("first", `${directory}/host`),
          meet("host-1", "sandbox-1"),
          meet("host-2", "sandbox-2"),
          say("second", `${directory}/host`),
          report("host"),
        ],
      },
      sandbox: {
        onSandboxReady: [
          say("three"),
          meet("sandbox-1", "host-1"),
          meet("sandbox-2", "host-2"),
          say("four"),
          { command: `echo 'echo installed' > "$HOME/tool"` },
          report("sandbox"),
        ],
      },
    },
  });
  return { cwd, directory, hadRun, result };
};

for (const [name, runtimes, make] of SANDBOXES) {
  describeWith(runtimes, `hooks around the ${name} sandbox`, () => {
    let cwd: string;
    let directory: string;
    let hadRun: boolean | undefined;
    let result: RunResult;
    const read = (file: string) => readFileSync(join(directory, file), "utf8").trim();
    const committed = (path: string) => git(cwd, "show", `agent/work:packages/a/${path}`);

    beforeAll(async () => {
      const root = realpathSync(mkdtempSync(join(tmpdir(), "sanddune-test-")));
      ({ cwd, directory, hadRun, result } = await playScene(root, make));
      return () => rmSync(root, { recursive: true, force: true });
    });

    it("run list by list, each in its order, before the agent", () => {
      expect(committed("order.txt")).toBe("one\ntwo\nthree\nfour\nagent");
      expect(read("host")).toBe("first\nsecond");
      expect(result.stdout).toBe("ok\n");
      expect(leftovers(cwd)).toEqual([]);
    });

    it("host.onWorktreeReady finds the copied files, in the worktree, and no sandbox yet", () => {
      expect(committed("seen.txt")).toBe("KEY=1");
      expect(hadRun).toBe(true);
    });

    it("host.onSandboxReady and sandbox.onSandboxReady run at the same time", () => {
      // Each of the two lists has waited for the other one, twice.
      for (const file of ["host-2", "sandbox-2"]) expect(existsSync(join(directory, file))).toBe(true);
    });

    it("start in the sub-directory that cwd names", () => {
      for (const who of ["worktree", "host"]) {
        expect(read(`${who}-pwd`).startsWith(join(cwd, ".sanddune/worktrees/"))).toBe(true);
        expect(read(`${who}-pwd`)).toMatch(/worktrees\/[^/]+\/packages\/a$/);
      }
      expect(read("sandbox-pwd")).toMatch(/\/packages\/a$/);
    });

    it("the agent can use what sandbox hooks install outside the worktree", () => {
      expect(committed("said.txt")).toBe("installed");
    });

    it("sandbox hooks have the run's env vars, host hooks have not", () => {
      expect(["worktree", "host", "sandbox"].map((who) => read(`${who}-env`))).toEqual([
        "[]",
        "[]",
        "[hello]",
      ]);
    });

    it("everything that hooks print is in the run log, and harmless there", () => {
      const log = readFileSync(result.logFilePath as string, "utf8");
      for (const [hook, who] of [
        ["host.onWorktreeReady", "worktree"],
        ["host.onSandboxReady", "host"],
        ["sandbox.onSandboxReady", "sandbox"],
      ] as const) {
        expect(log).toMatch(new RegExp(`\\[${hook}\\] ${who}-out\\n`));
        expect(log).toMatch(new RegExp(`\\[${hook}\\] ${who}-err\\n`));
      }
      expect(log).not.toMatch(/[\x07\x1b]/);
    });
  });
}

describeWith(["bubblewrap"], "hooks with the head strategy", () => {
  it("run in the user's own checkout", async () => {
    const cwd = temporaryRepository();
    const pwd = join(temporaryDirectory(), "pwd");
    await play(cwd, [{ commit: "Prepared" }], {
      branchStrategy: STRATEGIES.head,
      hooks: {
        host: {
          onWorktreeReady: [{ command: "touch prepared" }],
          onSandboxReady: [{ command: `pwd > ${pwd}` }],
        },
        sandbox: { onSandboxReady: [{ command: "touch made-in-sandbox" }] },
      },
    });
    expect(readFileSync(pwd, "utf8")).toBe(`${cwd}\n`);
    expect(git(cwd, "ls-tree", "--name-only", "main").split("\n")).toEqual([
      "README.md",
      "made-in-sandbox",
      "prepared",
    ]);
    expect(leftovers(cwd)).toEqual([]);
  });
});

const SERVICES: [string, Runtime[], () => SandboxProvider, Readonly<Record<string, string>>][] = [
  [
    "docker",
    ["docker"],
    () => docker({ imageName: TEST_IMAGE }),
    { "is silent": ">/dev/null 2>&1", "keeps printing": "" },
  ],
  ["test-isolated", [], () => testIsolated(), { "is silent": ">/dev/null 2>&1" }],
];

for (const [name, runtimes, make, kinds] of SERVICES) {
  describeWith(runtimes, `a service that a hook starts in the ${name} sandbox`, () => {
    it(`answers the agent, be it one that ${Object.keys(kinds).join(" or ")}`, async () => {
      const cwd = temporaryRepository();
      const services = Object.values(kinds).map((redirection, index) => {
        const [question, answer] = [`"$HOME/question-${index}"`, `"$HOME/answer-${index}"`];
        const loop = `while :; do echo tick; if [ -e ${question} ]; then mv ${question} ${answer}; fi; sleep 0.05; done`;
        return {
          start: { command: `(${loop}) ${redirection} &` },
          ask: `touch ${question}; until [ -e ${answer} ]; do sleep 0.02; done; echo yes >> answered.txt`,
        };
      });
      await play(cwd, [...services.map(({ ask }) => shell(ask)), { commit: "Answered" }], {
        sandbox: make(),
        branchStrategy,
        idleTimeoutSeconds: 20,
        hooks: { sandbox: { onSandboxReady: services.map(({ start }) => start) } },
      });
      expect(git(cwd, "show", "agent/work:answered.txt")).toBe(services.map(() => "yes").join("\n"));
    });
  });
}

it("a process that a host hook leaves running continues while the agent works, and ends with the run: silent or not, also in a session of its own", async () => {
  const directory = temporaryDirectory();
  const file = (name: string) => join(directory, name);
  const KINDS = [
    (body: string) => `sh -c '${body}' >/dev/null 2>&1 &`,
    (body: string) => `sh -c '${body}' &`,
    (body: string) => `(setsid sh -c '${body}' >/dev/null 2>&1 &)`,
  ];
  const loopIn = (name: string) =>
    `trap "" TERM; echo $$ > ${file(name)}.pid; while :; do echo tick; echo x >> ${file(name)}.beats; sleep 0.02; done`;
  const hooksOf = (hook: string) =>
    KINDS.map((start, index) => ({ name: `${hook}-${index}`, command: start(loopIn(`${hook}-${index}`)) }));
  const [onWorktreeReady, onSandboxReady] = [hooksOf("worktree"), hooksOf("sandbox")];
  const names = [...onWorktreeReady, ...onSandboxReady].map(({ name }) => name);
  const commands = (hooks: typeof onWorktreeReady) => hooks.map(({ command }) => ({ command }));
  const read = (name: string) => readFileSync(file(name), "utf8");
  const isAlive = (name: string) => processIsAlive(Number(read(`${name}.pid`)));

  const here = `touch ${file("here")}; until [ -e ${file("go")} ]; do sleep 0.02; done`;
  const running = play(temporaryRepository(), [shell(here)], {
    sandbox: testIsolated(),
    hooks: { host: { onWorktreeReady: commands(onWorktreeReady), onSandboxReady: commands(onSandboxReady) } },
  });
  await waitFor(() => existsSync(file("here")));
  const beats = () =>
    names.map((name) => (existsSync(file(`${name}.beats`)) ? read(`${name}.beats`).length : 0));
  const before = beats();
  await waitFor(() => beats().every((count, index) => count > (before[index] as number)));
  writeFileSync(file("go"), "");
  await running;
  expect(names.filter(isAlive)).toEqual([]);
});

import { describe, expect, it } from "vitest";
import {
  command,
  createSandbox,
  createWorktree,
  InvalidBranchNameError,
  InvalidOptionsError,
  interactive,
  type SandboxProvider,
} from "../../src/index.ts";
import { noSandbox } from "../../src/sandboxes/no-sandbox.ts";
import { testIsolated } from "../../src/sandboxes/test-isolated.ts";
import { expectUntouched } from "../cli/fixtures.ts";
import { temporaryRepository } from "../helpers/repository.ts";

const agent = command("true", { interactive: "true" });
/** One that must not be asked for anything: the options are wrong. */
const sandbox: SandboxProvider = {
  type: "bind-mount",
  name: "never",
  preflight: async () => {
    throw new Error("must not be asked");
  },
  create: async () => {
    throw new Error("must not be created");
  },
};

/** What a door takes, wherever it is called from: plain JavaScript passes anything. */
type Call = (options: unknown) => Promise<unknown>;
const CALLS = {
  createSandbox: createSandbox as Call,
  createWorktree: createWorktree as Call,
  interactive: interactive as Call,
};
const GOOD = {
  createSandbox: { branch: "b", sandbox },
  createWorktree: { branchStrategy: { type: "branch", branch: "b" } },
  interactive: { agent, sandbox },
} as const;
type Door = keyof typeof CALLS;
const DOORS = Object.keys(CALLS) as Door[];

const failureOf = (result: Promise<unknown>): Promise<Error> =>
  result.then(
    () => {
      throw new Error("was expected to fail");
    },
    (error) => error,
  );

describe.each(DOORS)("%s(), before anything is created,", (door) => {
  it.each([
    ["no options", undefined],
    ["null", null],
    ["a string", "b"],
    ["a list", []],
  ])("refuses %s", async (_, options) => {
    const error = await failureOf(CALLS[door](options));
    expect(error).toBeInstanceOf(InvalidOptionsError);
    expect(error).toMatchObject({ option: "options", problem: "must be an object" });
  });

  const hooks = (...list: unknown[]) => ({ hooks: { host: { onWorktreeReady: list } } });
  const CASES: [string, Door[], object, string][] = [
    ["an option that does not exist", DOORS, { branhc: "b" }, "branhc"],
    ["a signal that is none", DOORS, { signal: {} }, "signal"],
    ["a name with a line break", DOORS, { name: "a\nb" }, "name"],
    ["an empty cwd", DOORS, { cwd: "" }, "cwd"],
    ["a cwd that does not exist", ["createSandbox", "createWorktree"], { cwd: "/nowhere/at/all" }, "cwd"],
    ["items to copy that are no list", DOORS, { copyToWorktree: "a" }, "copyToWorktree"],
    ["a timeout that is no time", DOORS, { timeouts: { copyToWorktreeMs: 0 } }, "timeouts.copyToWorktreeMs"],
    ["a timeout that does not exist", DOORS, { timeouts: { closeMs: 1 } }, "timeouts.closeMs"],
    ["hooks that are no object", DOORS, { hooks: [] }, "hooks"],
    ["a hook without a command", DOORS, hooks({}), "hooks.host.onWorktreeReady"],
    ["a hook with an empty command", DOORS, hooks({ command: "" }), "hooks.host.onWorktreeReady[0].command"],
    [
      "a host hook as root",
      DOORS,
      hooks({ command: "true", sudo: true }),
      "hooks.host.onWorktreeReady[0].sudo",
    ],
    ["a moment that hooks do not know", DOORS, { hooks: { host: { onReady: [] } } }, "hooks.host.onReady"],
    [
      "a hook in a sandbox that there will not be",
      ["createWorktree"],
      { hooks: { sandbox: {} } },
      "hooks.sandbox",
    ],
    [
      "a hook for a sandbox",
      ["createWorktree"],
      { hooks: { host: { onSandboxReady: [] } } },
      "hooks.host.onSandboxReady",
    ],
    ["logging without a type", ["createSandbox", "createWorktree"], { logging: {} }, "logging"],
    [
      "logging of another type",
      ["createSandbox", "createWorktree"],
      { logging: { type: "tty" } },
      "logging.type",
    ],
    [
      "a listener where there is no agent",
      ["createSandbox", "createWorktree"],
      { logging: { type: "file", onAgentStreamEvent: () => {} } },
      "logging.onAgentStreamEvent",
    ],
    ["logging, which the terminal is for", ["interactive"], { logging: { type: "file" } }, "logging"],
    ["env vars that are no object", ["createSandbox", "interactive"], { env: "A=b" }, "env"],
    ["an env var that is no text", ["createSandbox", "interactive"], { env: { PORT: 80 } }, "env"],
    ["an env var with an impossible name", ["createSandbox"], { env: { "a-b": "c" } }, "env"],
    ["env vars, which nothing would have", ["createWorktree"], { env: {} }, "env"],
    ["no branch", ["createSandbox"], { branch: undefined }, "branch"],
    ["a branch that is no text", ["createSandbox"], { branch: 7 }, "branch"],
    ["a starting point that is no text", ["createSandbox"], { from: "" }, "from"],
    [
      "a branch strategy, which is the branch",
      ["createSandbox", "interactive"],
      { branchStrategy: {} },
      "branchStrategy",
    ],
    ["no branch strategy", ["createWorktree"], { branchStrategy: undefined }, "branchStrategy"],
    ["the head strategy", ["createWorktree"], { branchStrategy: { type: "head" } }, "branchStrategy"],
    ["another strategy", ["createWorktree"], { branchStrategy: { type: "worktree" } }, "branchStrategy"],
    [
      "a strategy without a name",
      ["createWorktree"],
      { branchStrategy: { type: "branch" } },
      "branchStrategy",
    ],
    ["no sandbox", ["createSandbox", "interactive"], { sandbox: undefined }, "sandbox"],
    ["a sandbox by its name", ["createSandbox", "interactive"], { sandbox: "docker" }, "sandbox"],
    ["a sandbox of another type", ["createSandbox", "interactive"], { sandbox: { type: "vm" } }, "sandbox"],
    ["a sandbox, which comes later", ["createWorktree"], { sandbox }, "sandbox"],
    ["no-sandbox", ["createSandbox"], { sandbox: noSandbox() }, "sandbox"],
    [
      "env vars of a sandbox provider's that are no text",
      ["createSandbox", "interactive"],
      { sandbox: { ...sandbox, env: { A: 1 } } },
      "sandbox.env",
    ],
    ["no agent", ["interactive"], { agent: undefined }, "agent"],
    ["an agent by its name", ["interactive"], { agent: "claude" }, "agent"],
    ["an agent without a terminal interface", ["interactive"], { agent: command("true") }, "agent"],
    ["a prompt and a file", ["interactive"], { prompt: "a", promptFile: "b" }, "promptFile"],
    ["arguments without a file", ["interactive"], { promptArgs: { A: 1 } }, "promptArgs"],
    ["a prompt that is no text", ["interactive"], { prompt: 7 }, "prompt"],
    ["iterations", ["interactive"], { maxIterations: 2 }, "maxIterations"],
    [
      "an agent session to go on with",
      ["createSandbox", "interactive"],
      { resumeSession: "1" },
      "resumeSession",
    ],
  ];

  it.each(CASES.filter(([, doors]) => doors.includes(door)))(
    "refuses %s, and names the option",
    async (_, __, wrong, option) => {
      const cwd = temporaryRepository();
      const error = await failureOf(CALLS[door]({ cwd, ...GOOD[door], ...wrong }));
      expect(error).toBeInstanceOf(InvalidOptionsError);
      expect(error).toMatchObject({ option });
      expectUntouched(cwd);
    },
  );

  it("says the reason of a signal that is aborted already, whatever else is wrong", async () => {
    const reason = { why: "too late" };
    expect(await failureOf(CALLS[door]({ signal: AbortSignal.abort(reason) }))).toBe(reason);
  });
});

describe("no-sandbox", () => {
  it("is refused by name where an unattended agent would work with it", async () => {
    const cwd = temporaryRepository();
    const error = await failureOf(CALLS.createSandbox({ cwd, branch: "b", sandbox: noSandbox() }));
    expect(error.message).toMatch(/interactive sessions only.*needs a sandbox/);
    expectUntouched(cwd);
  });
});

describe("a branch name that git would not take, or would take for something else,", () => {
  const IMPOSSIBLE = [
    ...["", "-x", "--upload-pack=touch canary", "HEAD", "@", "a b", "a\nb", "a\0b", "a..b", "a~1", "a:b"],
    ...["a*", "a\\b", "a@{0}", "/a", "a/", "a//b", ".a", "a.", "a.lock", "refs/heads/a", "a".repeat(300)],
    ...["\ud800", "0123456789abcdef0123456789abcdef01234567"],
  ];

  it.each(IMPOSSIBLE)("%j is refused by createSandbox() and createWorktree()", async (branch) => {
    const cwd = temporaryRepository();
    const calls = [
      () => createSandbox({ cwd, branch, sandbox: testIsolated() }),
      () => createWorktree({ cwd, branchStrategy: { type: "branch", branch } }),
    ];
    for (const call of calls) {
      const error = await failureOf(call());
      expect(error).toBeInstanceOf(InvalidBranchNameError);
      expect(error).toMatchObject({ branch });
    }
    expectUntouched(cwd);
  });
});

import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  command,
  createSandbox,
  createWorktree,
  InvalidOptionsError,
  interactive,
  TerminalError,
} from "../../src/index.ts";
import { noSandbox } from "../../src/sandboxes/no-sandbox.ts";
import { testIsolated } from "../../src/sandboxes/test-isolated.ts";
import { git, temporaryRepository } from "../helpers/repository.ts";

const agent = command("touch started", { interactive: "touch started" });
const bare = command("touch started");
const sandbox = testIsolated();
const listener = () => {};

/** Any function of a handle, as plain JavaScript would call it. */
type Call = (...args: unknown[]) => Promise<unknown>;

const failureOf = (result: Promise<unknown>): Promise<Error> =>
  result.then(
    () => {
      throw new Error("was expected to fail");
    },
    (error) => error,
  );

/** Everything that a call could have made on the host. */
const traces = (cwd: string) => ({
  refs: git(cwd, "for-each-ref"),
  worktrees: git(cwd, "worktree", "list"),
  runs: readdirSync(join(cwd, ".sanddune/runs")),
  logs: readdirSync(join(cwd, ".sanddune/logs")),
  locks: readdirSync(join(cwd, ".git/sanddune/locks")),
});

/** A call with the wrong arguments: the error, with nothing made and the handle still open. */
const expectRefused = async (cwd: string, call: Call, args: unknown[], option: string) => {
  const before = traces(cwd);
  const error = await failureOf(call(...args));
  expect(error).toBeInstanceOf(InvalidOptionsError);
  expect(error).toMatchObject({ option });
  expect(traces(cwd)).toEqual(before);
};

type Case = [string, unknown[], string];
const good = { agent, prompt: "x" };

/** What every call that starts an agent refuses; `basis` is what is needed besides. */
const agentCases = (basis: object): Case[] => [
  ["an option that does not exist", [{ ...basis, sandbx: sandbox }], "sandbx"],
  ["no agent", [{ ...basis, agent: undefined }], "agent"],
  ["an agent by its name", [{ ...basis, agent: "claude" }], "agent"],
  [
    "env vars of an agent's that are no text",
    [{ ...basis, agent: { ...agent, env: { A: 1 } } }],
    "agent.env",
  ],
  ["a signal that is none", [{ ...basis, signal: "SIGINT" }], "signal"],
  ["a name with a line break", [{ ...basis, name: "a\nb" }], "name"],
  ["env vars that are no object", [{ ...basis, env: [] }], "env"],
  ["a prompt and a file", [{ ...basis, prompt: "a", promptFile: "b" }], "promptFile"],
  ["arguments without a file", [{ ...basis, prompt: "a", promptArgs: { A: 1 } }], "promptArgs"],
  ["a branch strategy", [{ ...basis, branchStrategy: { type: "head" } }], "branchStrategy"],
  ["a cwd", [{ ...basis, cwd: "/" }], "cwd"],
  ["items to copy", [{ ...basis, copyToWorktree: ["a"] }], "copyToWorktree"],
  ["a timeout for copying", [{ ...basis, timeouts: { copyToWorktreeMs: 1 } }], "timeouts.copyToWorktreeMs"],
  ["an agent session to go on with", [{ ...basis, resumeSession: "1" }], "resumeSession"],
];
const runCases = (basis: object): Case[] => [
  ...agentCases(basis),
  ["no prompt", [{ ...basis, prompt: undefined }], "prompt"],
  ["no iterations", [{ ...basis, maxIterations: 0 }], "maxIterations"],
  ["a timeout that is no time", [{ ...basis, idleTimeoutSeconds: -1 }], "idleTimeoutSeconds"],
  ["logging of another type", [{ ...basis, logging: { type: "tty" } }], "logging.type"],
  ["an output without a tag", [{ ...basis, output: {} }], "output"],
];
const interactiveCases = (basis: object): Case[] => [
  ...agentCases(basis),
  ["an agent without a terminal interface", [{ ...basis, agent: bare }], "agent"],
  ["iterations", [{ ...basis, maxIterations: 2 }], "maxIterations"],
  ["an output", [{ ...basis, output: { tag: "a" } }], "output"],
  ["logging", [{ ...basis, logging: { type: "file" } }], "logging"],
];
/** What every call that makes a sandbox refuses. */
const sandboxCases = (basis: object): Case[] => [
  ["a sandbox of another type", [{ ...basis, sandbox: { type: "vm" } }], "sandbox"],
  ["hooks that are no object", [{ ...basis, hooks: "npm ci" }], "hooks"],
  [
    "a hook for the worktree",
    [{ ...basis, hooks: { host: { onWorktreeReady: [] } } }],
    "hooks.host.onWorktreeReady",
  ],
];
const unattended = (basis: object): Case[] => [
  ...sandboxCases(basis),
  ["no sandbox", [{ ...basis, sandbox: undefined }], "sandbox"],
  ["no-sandbox", [{ ...basis, sandbox: noSandbox() }], "sandbox"],
];

const openSandbox = async () => {
  const cwd = temporaryRepository();
  return { cwd, handle: await createSandbox({ cwd, branch: "b", sandbox }) };
};
const openWorktree = async () => {
  const cwd = temporaryRepository();
  return { cwd, handle: await createWorktree({ cwd, branchStrategy: { type: "branch", branch: "b" } }) };
};

describe("sandbox", () => {
  it.each<["run" | "exec" | "interactive", Case[]]>([
    [
      "run",
      [
        ["no options", [], "options"],
        ["null", [null], "options"],
        ...runCases(good),
        ["a sandbox", [{ ...good, sandbox }], "sandbox"],
        ["hooks", [{ ...good, hooks: {} }], "hooks"],
      ],
    ],
    [
      "exec",
      [
        ["no command", [], "command"],
        ["null for options", ["id", null], "options"],
        ["an empty command", [""], "command"],
        ["a list", [["ls", "-l"]], "command"],
        ["root", ["id", { sudo: true }], "sudo"],
        ["an option that does not exist", ["id", { environment: {} }], "environment"],
        ["an input that is none", ["cat", { stdin: 7 }], "stdin"],
        ["env vars that are no object", ["id", { env: "A=b" }], "env"],
        ["an env var that is no text", ["id", { env: { A: () => "b" } }], "env"],
        ["nothing to keep of the output", ["id", { captureBytes: 0 }], "captureBytes"],
        ["half a byte", ["id", { captureBytes: 0.5 }], "captureBytes"],
        ["no time", ["id", { timeoutMs: 0 }], "timeoutMs"],
        ["a signal that is none", ["id", { signal: {} }], "signal"],
        ["a listener that is none", ["id", { onLine: "log" }], "onLine"],
        ["a listener that exec has not", ["id", { onActivity: listener }], "onActivity"],
        ["an empty cwd", ["id", { cwd: "" }], "cwd"],
      ],
    ],
    [
      "interactive",
      [
        ["no options", [], "options"],
        ...interactiveCases({ agent }),
        ["a sandbox", [{ agent, sandbox }], "sandbox"],
        ["hooks", [{ agent, hooks: {} }], "hooks"],
      ],
    ],
  ])("%s() refuses what is wrong, names the option, makes nothing, and goes on", async (name, cases) => {
    const { cwd, handle } = await openSandbox();
    for (const [, args, option] of cases) await expectRefused(cwd, handle[name] as Call, args, option);
    expect((await handle.exec("ls")).stdout).toBe("README.md\n");
    expect(await handle.close()).toEqual({ commits: [], warnings: [] });
  });
});

describe("worktree", () => {
  it.each<["run" | "interactive" | "createSandbox", Case[]]>([
    [
      "run",
      [["no options", [], "options"], ...runCases({ ...good, sandbox }), ...unattended({ ...good, sandbox })],
    ],
    [
      "interactive",
      [
        ["no options", [], "options"],
        ["null", [null], "options"],
        ...interactiveCases({ agent }),
        ...sandboxCases({ agent }),
      ],
    ],
    [
      "createSandbox",
      [
        ["no options", [], "options"],
        ["a branch", [{ sandbox, branch: "c" }], "branch"],
        ["a cwd", [{ sandbox, cwd: "/" }], "cwd"],
        ["items to copy", [{ sandbox, copyToWorktree: [] }], "copyToWorktree"],
        [
          "a listener",
          [{ sandbox, logging: { type: "file", onAgentStreamEvent: listener } }],
          "logging.onAgentStreamEvent",
        ],
        ...unattended({ sandbox }),
      ],
    ],
  ])("%s() refuses what is wrong, names the option, makes nothing, and goes on", async (name, cases) => {
    const { cwd, handle } = await openWorktree();
    for (const [, args, option] of cases) await expectRefused(cwd, handle[name] as Call, args, option);
    expect(readdirSync(handle.worktreePath).sort()).toEqual([".git", "README.md"]);
    expect(await handle.close()).toEqual({ commits: [], warnings: [] });
  });
});

describe("an interactive session without a terminal", () => {
  it("is refused by every door, and nothing is made", async () => {
    const inSandbox = await openSandbox();
    const inWorktree = await openWorktree();
    for (const { cwd, handle } of [inSandbox, inWorktree]) {
      const before = traces(cwd);
      expect(await failureOf(handle.interactive({ agent }))).toBeInstanceOf(TerminalError);
      expect(traces(cwd)).toEqual(before);
      await handle.close();
    }
  });

  it("is not the first thing that is told to whoever has hooks for a sandbox that there is not", async () => {
    const { cwd, handle } = await openWorktree();
    const hooks = { sandbox: { onSandboxReady: [{ command: "true" }] } };
    await expectRefused(cwd, handle.interactive as Call, [{ agent, hooks }], "hooks.sandbox");
    await expectRefused(
      cwd,
      interactive as Call,
      [{ agent, hooks, cwd, sandbox: noSandbox() }],
      "hooks.sandbox",
    );
    await handle.close();
  });
});

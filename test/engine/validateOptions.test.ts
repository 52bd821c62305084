import { describe, expect, it } from "vitest";
import { command } from "../../src/agents/command.ts";
import * as validate from "../../src/engine/validateOptions.ts";
import { InvalidOptionsError, TerminalError } from "../../src/errors.ts";
import { noSandbox } from "../../src/sandboxes/no-sandbox.ts";
import { testIsolated } from "../../src/sandboxes/test-isolated.ts";

const agent = command("true", { interactive: "true" });
const sandbox = testIsolated();
const branchStrategy = { type: "branch", branch: "b" };
const listener = () => {};

/** The check of each door, as plain JavaScript would come to it, and what it takes. */
const DOORS: Readonly<Record<string, readonly [check: (options: never) => void, good: object]>> = {
  "run()": [validate.validateRun, { agent, sandbox, prompt: "x" }],
  "createSandbox()": [validate.validateCreateSandbox, { branch: "b", sandbox }],
  "createWorktree()": [validate.validateCreateWorktree, { branchStrategy }],
  "interactive()": [validate.validateInteractive, { agent, sandbox }],
  "sandbox.run()": [validate.validateSandboxRun, { agent, prompt: "x" }],
  "sandbox.interactive()": [validate.validateSandboxInteractive, { agent }],
  "worktree.run()": [validate.validateWorktreeRun, { agent, sandbox, prompt: "x" }],
  "worktree.interactive()": [validate.validateWorktreeInteractive, { agent }],
  "worktree.createSandbox()": [validate.validateWorktreeSandbox, { sandbox }],
};

const ALL = Object.keys(DOORS);
const those = (pattern: RegExp) => ALL.filter((door) => pattern.test(door));
const except = (doors: readonly string[]) => ALL.filter((door) => !doors.includes(door));
const RUNS = those(/run/);
const SESSIONS = those(/interactive/);
const WITH_AGENT = [...RUNS, ...SESSIONS];
const MAKERS = those(/create/);
const IN_SANDBOX = those(/^sandbox\./);
const IN_WORKTREE = those(/^worktree\./);
/** They make the checkout. */
const OUTER = except([...IN_SANDBOX, ...IN_WORKTREE]);
/** They make a sandbox, or go into one that is named. */
const WITH_SANDBOX = except([...IN_SANDBOX, "createWorktree()"]);
const WITH_WORKTREE_HOOKS = OUTER;

const refusalOf = (check: () => void): unknown => {
  try {
    check();
  } catch (error) {
    return error;
  }
  return undefined;
};

const expectRefused = (check: () => void, option: string, problem: RegExp): void => {
  const error = refusalOf(check);
  expect(error).toBeInstanceOf(InvalidOptionsError);
  expect(error).toMatchObject({ option, message: expect.stringMatching(problem) });
};

const checkOptions = (door: string, options: unknown): void => DOORS[door]?.[0](options as never);
const checkWith = (door: string, wrong: object): void =>
  checkOptions(door, { ...DOORS[door]?.[1], ...wrong });

type Case = readonly [what: string, doors: readonly string[], wrong: object, option: string, problem: RegExp];

const casesFor = (cases: readonly Case[]) =>
  cases.flatMap(([what, doors, ...rest]) => doors.map((door) => [door, what, ...rest] as const));

describe.each(ALL)("%s", (door) => {
  it("takes what is right", () => {
    const reason = refusalOf(() => checkWith(door, {}));
    // The tests have no terminal, which is found out last.
    if (SESSIONS.includes(door)) expect(reason).toBeInstanceOf(TerminalError);
    else expect(reason).toBeUndefined();
  });

  it.each([
    ["nothing", undefined],
    ["null", null],
    ["a text", "b"],
    ["a list", []],
  ])("refuses %s for options", (_, options) => {
    expectRefused(() => checkOptions(door, options), "options", /must be an object/);
  });

  it("refuses an option that does not exist, and names those that do", () => {
    expectRefused(() => checkWith(door, { maxIteration: 3 }), "maxIteration", /no such option.*\bsignal\b/s);
  });
});

const COMMON: readonly Case[] = [
  ["a signal that is none", ALL, { signal: {} }, "signal", /AbortSignal/],
  ["a name with a line break", ALL, { name: "a\nb" }, "name", /one line/],
  ["an empty cwd", OUTER, { cwd: "" }, "cwd", /non-empty/],
  ["items to copy that are no list", OUTER, { copyToWorktree: "a" }, "copyToWorktree", /list of strings/],
  [
    "a timeout that is no time",
    OUTER,
    { timeouts: { copyToWorktreeMs: 0 } },
    "timeouts.copyToWorktreeMs",
    /above 0/,
  ],
  [
    "a timeout that does not exist",
    OUTER,
    { timeouts: { copyMs: 1 } },
    "timeouts.copyMs",
    /no such option.*copyToWorktreeMs/,
  ],
  ["env vars that are no object", except(["createWorktree()"]), { env: "A=b" }, "env", /must be an object/],
  ["env vars that are a list", except(["createWorktree()"]), { env: [] }, "env", /must be an object/],
  ["env vars, which nothing would have", ["createWorktree()"], { env: {} }, "env", /no such option/],
];

const DECIDED_ALREADY: readonly Case[] = [
  ["a cwd", [...IN_SANDBOX, ...IN_WORKTREE], { cwd: "/" }, "cwd", /no such option/],
  [
    "a branch strategy",
    except(["run()", "createWorktree()"]),
    { branchStrategy },
    "branchStrategy",
    /no such option/,
  ],
  ["a branch", IN_WORKTREE, { branch: "c" }, "branch", /no such option/],
  [
    "items to copy",
    [...IN_SANDBOX, ...IN_WORKTREE],
    { copyToWorktree: ["a"] },
    "copyToWorktree",
    /no such option/,
  ],
  [
    "a timeout for copying",
    those(/^(sandbox|worktree)\.(run|interactive)/),
    { timeouts: { copyToWorktreeMs: 1 } },
    "timeouts.copyToWorktreeMs",
    /no such option/,
  ],
  ["a sandbox", [...IN_SANDBOX, "createWorktree()"], { sandbox }, "sandbox", /no such option/],
  ["hooks", IN_SANDBOX, { hooks: {} }, "hooks", /no such option/],
  [
    "a hook for the worktree",
    IN_WORKTREE,
    { hooks: { host: { onWorktreeReady: [] } } },
    "hooks.host.onWorktreeReady",
    /no such option/,
  ],
];

const BRANCHES: readonly Case[] = [
  ["no branch", ["createSandbox()"], { branch: undefined }, "branch", /name of the branch/],
  ["a branch that is no text", ["createSandbox()"], { branch: 7 }, "branch", /name of the branch/],
  ["a starting point that is no text", ["createSandbox()"], { from: "" }, "from", /non-empty/],
  ["no branch strategy", ["createWorktree()"], { branchStrategy: undefined }, "branchStrategy", /type/],
  [
    "the head strategy, where there would be no worktree",
    ["createWorktree()"],
    { branchStrategy: { type: "head" } },
    "branchStrategy",
    /no worktree.*branch.*merge-to-head/,
  ],
  [
    "another strategy",
    ["run()", "createWorktree()"],
    { branchStrategy: { type: "worktree" } },
    "branchStrategy",
    /"head", "merge-to-head" or "branch"/,
  ],
  [
    "a strategy without the branch's name",
    ["run()", "createWorktree()"],
    { branchStrategy: { type: "branch" } },
    "branchStrategy",
    /needs the branch's name/,
  ],
];

const SANDBOXES: readonly Case[] = [
  [
    "no sandbox",
    WITH_SANDBOX.filter((door) => door !== "worktree.interactive()"),
    { sandbox: undefined },
    "sandbox",
    /must be a sandbox provider/,
  ],
  ["a sandbox by its name", WITH_SANDBOX, { sandbox: "docker" }, "sandbox", /must be a sandbox provider/],
  [
    "a sandbox of another type",
    WITH_SANDBOX,
    { sandbox: { type: "vm" } },
    "sandbox",
    /must be a sandbox provider/,
  ],
  [
    "no-sandbox, where nobody watches the agent",
    WITH_SANDBOX.filter((door) => !SESSIONS.includes(door)),
    { sandbox: noSandbox() },
    "sandbox",
    /interactive sessions only.*needs a sandbox/,
  ],
  [
    "env vars of a sandbox provider's that are no text",
    WITH_SANDBOX,
    { sandbox: { ...sandbox, env: { A: 1 } } },
    "sandbox.env",
    /\bA\b/,
  ],
];

const AGENTS: readonly Case[] = [
  ["no agent", WITH_AGENT, { agent: undefined }, "agent", /must be an agent provider/],
  ["an agent by its name", WITH_AGENT, { agent: "claude" }, "agent", /must be an agent provider/],
  [
    "env vars of an agent's that are no text",
    WITH_AGENT,
    { agent: { ...agent, env: { A: 1 } } },
    "agent.env",
    /\bA\b/,
  ],
  [
    "an agent without a terminal interface",
    SESSIONS,
    { agent: command("true") },
    "agent",
    /no terminal interface/,
  ],
  ["no prompt", RUNS, { prompt: undefined }, "prompt", /pass `prompt`/],
  ["a prompt that is no text", WITH_AGENT, { prompt: 7 }, "prompt", /string/],
  [
    "a prompt and a file",
    WITH_AGENT,
    { prompt: "a", promptFile: "b" },
    "promptFile",
    /`prompt` and `promptFile` exclude/,
  ],
  [
    "arguments without a file",
    WITH_AGENT,
    { prompt: "a", promptArgs: { A: 1 } },
    "promptArgs",
    /pass `promptFile`/,
  ],
  ["a prompt, where there is no agent", MAKERS, { prompt: "x" }, "prompt", /no such option/],
  ["no iterations", RUNS, { maxIterations: 0 }, "maxIterations", /1 or more/],
  ["iterations of a person's", SESSIONS, { maxIterations: 2 }, "maxIterations", /no such option/],
  ["a timeout below nothing", RUNS, { idleTimeoutSeconds: -1 }, "idleTimeoutSeconds", /above 0/],
  ["an empty completion signal", RUNS, { completionSignal: [""] }, "completionSignal", /non-empty/],
  ["an output without a tag", RUNS, { output: {} }, "output", /needs a `tag`/],
  ["an output of a person's", SESSIONS, { output: { tag: "a" } }, "output", /no such option/],
  [
    "a session of the agent's to go on with, where each run begins a new one",
    ["sandbox.run()"],
    { resumeSession: "1" },
    "resumeSession",
    /begins a new one/,
  ],
  [
    "a session of the agent's to go on with",
    [...SESSIONS, ...MAKERS],
    { resumeSession: "1" },
    "resumeSession",
    /no such option/,
  ],
  [
    "a session to go on with of an agent that cannot",
    ["run()", "worktree.run()"],
    { resumeSession: "1" },
    "resumeSession",
    /cannot resume/,
  ],
];

const LOGGING: readonly Case[] = [
  ["logging without a type", [...RUNS, ...MAKERS], { logging: {} }, "logging", /type/],
  ["logging of another type", [...RUNS, ...MAKERS], { logging: { type: "tty" } }, "logging.type", /"file"/],
  [
    "a listener, where there is no agent",
    MAKERS,
    { logging: { type: "file", onAgentStreamEvent: listener } },
    "logging.onAgentStreamEvent",
    /no such option/,
  ],
  [
    "logging, which the terminal is for",
    SESSIONS,
    { logging: { type: "file" } },
    "logging",
    /no such option/,
  ],
];

const ENVIRONMENTS: readonly Case[] = [
  [
    "tests to wait for, but no environment",
    ["run()", "worktree.run()"],
    { until: "tests-pass" },
    "until",
    /pass `environment`/,
  ],
  [
    "another end than that of the tests",
    ["run()", "worktree.run()"],
    { environment: "x", until: "done" },
    "until",
    /"tests-pass"/,
  ],
  [
    "an environment without its folder",
    ["run()", "createSandbox()"],
    { environment: {} },
    "environment",
    /needs the `path`/,
  ],
  [
    "another isolation of the tests",
    ["run()", "createSandbox()"],
    { environment: { path: "x", isolation: "none" } },
    "environment.isolation",
    /"shared" or "strict"/,
  ],
];

describe("the error says what is wrong, by the name of the option:", () => {
  it.each(
    casesFor([
      ...COMMON,
      ...DECIDED_ALREADY,
      ...BRANCHES,
      ...SANDBOXES,
      ...AGENTS,
      ...LOGGING,
      ...ENVIRONMENTS,
    ]),
  )("%s refuses %s", (door, _, wrong, option, problem) => {
    expectRefused(() => checkWith(door, wrong), option, problem);
  });
});

describe("an env var", () => {
  it.each([
    ["a number", 42],
    ["null", null],
    ["a list", ["s3cret"]],
    ["an unknown kind", { file: "s3cret" }],
    ["an empty command", { command: "" }],
    ["a command with an unknown member", { command: "true", timeout: 5 }],
    ["a command that is public as well", { command: "true", public: "x" }],
    ["a public value that is no string", { public: 1 }],
  ])("cannot be %s: the error names it, and not its value", (_, value) => {
    const error = refusalOf(() => checkWith("run()", { env: { KEY: value } }));
    expect(error).toBeInstanceOf(InvalidOptionsError);
    expect(error).toMatchObject({ option: "env", problem: expect.stringContaining("KEY") });
    expect((error as Error).stack).not.toContain("s3cret");
  });
});

describe("hooks", () => {
  const GOOD = { command: "true" };
  const onHost = (...onWorktreeReady: unknown[]) => ({ host: { onWorktreeReady } });
  const inSandbox = (...onSandboxReady: unknown[]) => ({ sandbox: { onSandboxReady } });

  it.each<[string, unknown, string, RegExp]>([
    ["hooks that are no object", "npm ci", "hooks", /must be an object/],
    ["hooks that are null", null, "hooks", /must be an object/],
    ["hooks that are a list", [], "hooks", /must be an object/],
    ["one hook instead of a list", { host: { onWorktreeReady: GOOD } }, "hooks.host.onWorktreeReady", /list/],
    ["a line instead of a list", { host: { onWorktreeReady: "true" } }, "hooks.host.onWorktreeReady", /list/],
    ["a line instead of a hook", onHost("true"), "hooks.host.onWorktreeReady[0]", /must be an object/],
    ["a hook that is null", onHost(GOOD, null), "hooks.host.onWorktreeReady[1]", /must be an object/],
    ["a hook without a command", onHost(GOOD, {}), "hooks.host.onWorktreeReady", /hook 2 has no `command`/],
    ["an empty command", onHost({ command: "" }), "hooks.host.onWorktreeReady[0].command", /non-empty/],
    [
      "a command that is an argv",
      onHost({ command: ["a"] }),
      "hooks.host.onWorktreeReady[0].command",
      /string/,
    ],
    ["sudo on the host", onHost({ ...GOOD, sudo: true }), "hooks.host.onWorktreeReady[0].sudo", /no such/],
    ["a directory", onHost({ ...GOOD, cwd: "x" }), "hooks.host.onWorktreeReady[0].cwd", /command, timeoutMs/],
    ["a mistyped timeout", onHost({ ...GOOD, timeout: 5 }), "hooks.host.onWorktreeReady[0].timeout", /Ms/],
    ["no time", onHost({ ...GOOD, timeoutMs: 0 }), "hooks.host.onWorktreeReady[0].timeoutMs", /above 0/],
    [
      "endless time",
      onHost({ ...GOOD, timeoutMs: Infinity }),
      "hooks.host.onWorktreeReady[0].timeoutMs",
      /most/,
    ],
    [
      "time as text",
      onHost({ ...GOOD, timeoutMs: "5s" }),
      "hooks.host.onWorktreeReady[0].timeoutMs",
      /number/,
    ],
    [
      "a moment that they do not know",
      { host: { onStart: [GOOD] } },
      "hooks.host.onStart",
      /onWorktreeReady/,
    ],
    ["an unknown place", { container: {} }, "hooks.container", /no such option.*host/],
  ])("are refused by every door that makes a worktree: %s", (_, hooks, option, problem) => {
    for (const door of WITH_WORKTREE_HOOKS) expectRefused(() => checkWith(door, { hooks }), option, problem);
  });

  it.each<[string, unknown, string, RegExp]>([
    ["a moment without its place", { onSandboxReady: [GOOD] }, "hooks.onSandboxReady", /no such option/],
    [
      "a line instead of a list",
      { host: { onSandboxReady: "npm ci" } },
      "hooks.host.onSandboxReady",
      /must be a list/,
    ],
    [
      "a worktree hook in the sandbox",
      { sandbox: { onWorktreeReady: [GOOD] } },
      "hooks.sandbox.onWorktreeReady",
      /no such option.*onSandboxReady/,
    ],
    ["sudo as text", inSandbox({ ...GOOD, sudo: "yes" }), "hooks.sandbox.onSandboxReady[0].sudo", /true or/],
  ])("are refused by every door that makes a sandbox: %s", (_, hooks, option, problem) => {
    for (const door of WITH_SANDBOX) expectRefused(() => checkWith(door, { hooks }), option, problem);
  });

  it.each<[string, unknown, string, RegExp]>([
    [
      "host.onSandboxReady",
      { host: { onSandboxReady: [GOOD] } },
      "hooks.host.onSandboxReady",
      /WorktreeReady/,
    ],
    ["sandbox.onSandboxReady", inSandbox(GOOD), "hooks.sandbox", /host/],
  ])("for a sandbox are refused where none is made: %s", (_, hooks, option, problem) => {
    expectRefused(() => checkWith("createWorktree()", { hooks }), option, problem);
  });

  it.each(["interactive()", "worktree.interactive()"])(
    "in a sandbox are refused by %s where the agent works on the host, before it looks for a terminal",
    (door) => {
      const wrong = { sandbox: noSandbox(), hooks: inSandbox(GOOD) };
      expectRefused(() => checkWith(door, wrong), "hooks.sandbox", /no sandbox/);
    },
  );

  it.each<[string, object]>([
    ["no hooks", {}],
    ["places without moments", { host: {}, sandbox: {} }],
    ["empty lists", { host: { onWorktreeReady: [], onSandboxReady: [] }, sandbox: { onSandboxReady: [] } }],
    ["members that are undefined", { host: undefined, sandbox: { onSandboxReady: undefined } }],
    ["sudo: false", inSandbox({ ...GOOD, sudo: false, timeoutMs: 20_000 })],
  ])("may be %s", (_, hooks) => {
    expect(refusalOf(() => checkWith("run()", { hooks }))).toBeUndefined();
  });
});

describe("sandbox.exec()", () => {
  const check = (...args: unknown[]) => (validate.validateExec as (...all: unknown[]) => void)(...args);

  it("takes what is right", () => {
    const options = {
      cwd: "/",
      env: { A: "b" },
      stdin: "x",
      timeoutMs: 1,
      captureBytes: 1,
      onLine: listener,
    };
    expect(refusalOf(() => check("id", options))).toBeUndefined();
  });

  it.each<[string, unknown[], string, RegExp]>([
    ["no command", [undefined, {}], "command", /non-empty/],
    ["an empty command", ["", {}], "command", /non-empty/],
    ["an argv", [["ls", "-l"], {}], "command", /string/],
    ["null for options", ["id", null], "options", /must be an object/],
    ["a text for options", ["id", "fast"], "options", /must be an object/],
    ["an option that does not exist", ["id", { timeout: 5 }], "timeout", /no such option.*timeoutMs/],
    ["root, which is for hooks", ["id", { sudo: true }], "sudo", /no such option/],
    ["an input that is none", ["cat", { stdin: 7 }], "stdin", /string, bytes/],
    ["env vars that are no object", ["id", { env: "A=b" }], "env", /must be an object/],
    ["an env var that is no text", ["id", { env: { A: () => "b" } }], "env", /\bA\b/],
    ["nothing to keep of the output", ["id", { captureBytes: 0 }], "captureBytes", /1 or more/],
    ["half a byte", ["id", { captureBytes: 0.5 }], "captureBytes", /whole number/],
    ["no time", ["id", { timeoutMs: 0 }], "timeoutMs", /above 0/],
    ["a signal that is none", ["id", { signal: {} }], "signal", /AbortSignal/],
    ["a listener that is none", ["id", { onLine: "log" }], "onLine", /function/],
    ["a listener that it has not", ["id", { onActivity: listener }], "onActivity", /no such option/],
    ["an empty cwd", ["id", { cwd: "" }], "cwd", /non-empty/],
  ])("refuses %s", (_, args, option, problem) => {
    expectRefused(() => check(...args), option, problem);
  });
});

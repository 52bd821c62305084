import { describe, expect, it } from "vitest";
import { InvalidOptionsError, TerminalError } from "../../../src/errors.ts";
import { noSandbox } from "../../../src/sandboxes/no-sandbox.ts";
import { thrownBy } from "../../helpers/processes/thrownBy.ts";
import {
  ALL,
  branchStrategy,
  type Case,
  casesFor,
  checkOptions,
  checkWith,
  except,
  expectRefused,
  IN_SANDBOX,
  IN_WORKTREE,
  OUTER,
  SESSIONS,
  sandbox,
  those,
  WITH_SANDBOX,
} from "./scenes.ts";

describe.each(ALL)("%s", (entryPoint) => {
  it("takes what is right", () => {
    const reason = thrownBy(() => checkWith(entryPoint, {}));
    // The tests have no terminal, which is found out last.
    if (SESSIONS.includes(entryPoint)) expect(reason).toBeInstanceOf(TerminalError);
    else expect(reason).toBeUndefined();
  });

  it.each([
    ["nothing", undefined],
    ["null", null],
    ["a text", "b"],
    ["a list", []],
  ])("refuses %s for options", (_, options) => {
    expectRefused(() => checkOptions(entryPoint, options), "options", /must be an object/);
  });

  it("refuses an option that does not exist, and names those that do", () => {
    expectRefused(
      () => checkWith(entryPoint, { maxIteration: 3 }),
      "maxIteration",
      /no such option.*\bsignal\b/s,
    );
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
    WITH_SANDBOX.filter((entryPoint) => entryPoint !== "worktree.interactive()"),
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
    WITH_SANDBOX.filter((entryPoint) => !SESSIONS.includes(entryPoint)),
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

describe("the error says what is wrong, by the name of the option:", () => {
  it.each(casesFor([...COMMON, ...DECIDED_ALREADY, ...BRANCHES, ...SANDBOXES]))(
    "%s refuses %s",
    (entryPoint, _, wrong, option, problem) => {
      expectRefused(() => checkWith(entryPoint, wrong), option, problem);
    },
  );
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
    const error = thrownBy(() => checkWith("run()", { env: { KEY: value } }));
    expect(error).toBeInstanceOf(InvalidOptionsError);
    expect(error).toMatchObject({ option: "env", problem: expect.stringContaining("KEY") });
    expect((error as Error).stack).not.toContain("s3cret");
  });
});

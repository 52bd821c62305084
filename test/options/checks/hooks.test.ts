import { describe, expect, it } from "vitest";
import { noSandbox } from "../../../src/sandboxes/no-sandbox.ts";
import { thrownBy } from "../../helpers/processes/thrownBy.ts";
import { checkWith, expectRefused, OUTER, WITH_SANDBOX } from "./scenes.ts";

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
    ["a hook without a command", onHost(GOOD, {}), "hooks.host.onWorktreeReady[1].command", /non-empty/],
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
  ])("are refused by every entry point that makes a worktree: %s", (_, hooks, option, problem) => {
    for (const entryPoint of OUTER) expectRefused(() => checkWith(entryPoint, { hooks }), option, problem);
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
  ])("are refused by every entry point that makes a sandbox: %s", (_, hooks, option, problem) => {
    for (const entryPoint of WITH_SANDBOX)
      expectRefused(() => checkWith(entryPoint, { hooks }), option, problem);
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
    (entryPoint) => {
      const wrong = { sandbox: noSandbox(), hooks: inSandbox(GOOD) };
      expectRefused(() => checkWith(entryPoint, wrong), "hooks.sandbox", /no sandbox/);
    },
  );

  it.each<[string, object]>([
    ["no hooks", {}],
    ["places without moments", { host: {}, sandbox: {} }],
    ["empty lists", { host: { onWorktreeReady: [], onSandboxReady: [] }, sandbox: { onSandboxReady: [] } }],
    ["members that are undefined", { host: undefined, sandbox: { onSandboxReady: undefined } }],
    ["sudo: false", inSandbox({ ...GOOD, sudo: false, timeoutMs: 20_000 })],
  ])("may be %s", (_, hooks) => {
    expect(thrownBy(() => checkWith("run()", { hooks }))).toBeUndefined();
  });
});

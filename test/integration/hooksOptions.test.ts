import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { command, InvalidOptionsError, type RunOptions, run } from "../../src/index.ts";
import { testIsolated } from "../../src/sandboxes/test-isolated.ts";
import { git, temporaryRepository } from "../helpers/repository.ts";
import { failureOf } from "../security/support.ts";

const GOOD = { command: "touch hook-ran" };
const onHost = (...onWorktreeReady: unknown[]) => ({ host: { onWorktreeReady } });
const inSandbox = (...onSandboxReady: unknown[]) => ({ sandbox: { onSandboxReady } });

it.each<[string, unknown, string, RegExp]>([
  ["hooks that are no object", "npm ci", "hooks", /must be an object/],
  ["hooks that are null", null, "hooks", /must be an object/],
  ["hooks that are a list", [GOOD], "hooks", /must be an object/],
  ["hooks that are an empty list", [], "hooks", /must be an object/],
  ["an unknown place", { container: {} }, "hooks.container", /no such option.*host, sandbox/],
  ["a moment without its place", { onSandboxReady: [GOOD] }, "hooks.onSandboxReady", /no such option/],
  [
    "an unknown moment",
    { host: { onStart: [GOOD] } },
    "hooks.host.onStart",
    /onWorktreeReady, onSandboxReady/,
  ],
  [
    "a worktree hook in the sandbox",
    { sandbox: { onWorktreeReady: [GOOD] } },
    "hooks.sandbox.onWorktreeReady",
    /no such option.*onSandboxReady/,
  ],
  [
    "one hook instead of a list",
    { host: { onWorktreeReady: GOOD } },
    "hooks.host.onWorktreeReady",
    /must be a list/,
  ],
  [
    "a line instead of a list",
    { host: { onSandboxReady: "npm ci" } },
    "hooks.host.onSandboxReady",
    /must be a list/,
  ],
  ["a line instead of a hook", onHost("npm ci"), "hooks.host.onWorktreeReady[0]", /must be an object/],
  ["a hook that is null", onHost(GOOD, null), "hooks.host.onWorktreeReady[1]", /must be an object/],
  ["a hook without a command", onHost(GOOD, {}), "hooks.host.onWorktreeReady", /hook 2 has no `command`/],
  ["an empty command", onHost({ command: "" }), "hooks.host.onWorktreeReady[0].command", /non-empty string/],
  [
    "a command that is an argv",
    onHost({ command: ["a"] }),
    "hooks.host.onWorktreeReady[0].command",
    /string/,
  ],
  [
    "sudo on the host",
    onHost({ ...GOOD, sudo: true }),
    "hooks.host.onWorktreeReady[0].sudo",
    /no such option/,
  ],
  ["a directory", onHost({ ...GOOD, cwd: "x" }), "hooks.host.onWorktreeReady[0].cwd", /command, timeoutMs/],
  [
    "a mistyped timeout",
    onHost({ ...GOOD, timeout: 5 }),
    "hooks.host.onWorktreeReady[0].timeout",
    /timeoutMs/,
  ],
  ["no time at all", onHost({ ...GOOD, timeoutMs: 0 }), "hooks.host.onWorktreeReady[0].timeoutMs", /above 0/],
  [
    "endless time",
    onHost({ ...GOOD, timeoutMs: Infinity }),
    "hooks.host.onWorktreeReady[0].timeoutMs",
    /number/,
  ],
  ["time as text", onHost({ ...GOOD, timeoutMs: "5s" }), "hooks.host.onWorktreeReady[0].timeoutMs", /number/],
  [
    "sudo as text",
    inSandbox({ ...GOOD, sudo: "yes" }),
    "hooks.sandbox.onSandboxReady[0].sudo",
    /true or false/,
  ],
])("refuses, before anything is done, %s", async (_, hooks, option, problem) => {
  const cwd = temporaryRepository();
  const options = { agent: command("true"), sandbox: testIsolated(), prompt: "x", cwd, hooks };
  const error = await failureOf(run(options as RunOptions));
  expect(error).toBeInstanceOf(InvalidOptionsError);
  expect(error).toMatchObject({ option });
  expect(error.message).toMatch(problem);
  expect(existsSync(join(cwd, "hook-ran"))).toBe(false);
  expect(existsSync(join(cwd, ".sanddune"))).toBe(false);
  expect(existsSync(join(cwd, ".git/sanddune"))).toBe(false);
  expect(git(cwd, "for-each-ref", "--format=%(refname)")).toBe("refs/heads/main");
});

it.each<[string, object]>([
  ["no hooks", {}],
  ["places without moments", { host: {}, sandbox: {} }],
  ["empty lists", { host: { onWorktreeReady: [], onSandboxReady: [] }, sandbox: { onSandboxReady: [] } }],
  ["members that are undefined", { host: undefined, sandbox: { onSandboxReady: undefined } }],
  ["sudo: false, where there is no root", inSandbox({ command: "true", sudo: false, timeoutMs: 20_000 })],
])("accepts %s", async (_, hooks) => {
  const options = {
    agent: command("echo ok"),
    sandbox: testIsolated(),
    prompt: "x",
    cwd: temporaryRepository(),
  };
  expect((await run({ ...options, hooks })).stdout).toBe("ok\n");
});

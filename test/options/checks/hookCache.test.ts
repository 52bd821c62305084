import { describe, expect, it } from "vitest";
import { run, scripted } from "../../../src/index.ts";
import { checkProjectConfig } from "../../../src/project/config.ts";
import { testIsolated } from "../../../src/sandboxes/test-isolated.ts";

const runWith = (onSandboxReady: unknown) =>
  run({
    agent: scripted([]),
    sandbox: testIsolated(),
    prompt: "x",
    hooks: { sandbox: { onSandboxReady } },
  } as never);

describe("the option cache of a sandbox hook", () => {
  it.each([
    ["a text", "lock.json", "must be an object"],
    ["an unknown member", { keys: [] }, "there is no keys"],
    ["a key that is no list", { key: "lock.json" }, "must be a list"],
    ["an empty path", { key: [""] }, "an empty path"],
    ["an absolute path", { key: ["/etc/passwd"] }, '"/etc/passwd", which is not relative'],
    ["a path in the home directory", { key: ["~/x"] }, '"~/x", which is not relative'],
    ["a path that leaves", { key: ["a/../../x"] }, '"a/../../x", which leaves the directory'],
    ["a directory", { key: ["a/"] }, '"a/", which is a directory'],
    ["git's own data", { key: ["a/.GIT/config"] }, "which is in `.git`"],
    ["a NUL character", { key: ["a\0b"] }, "NUL character"],
  ])("refuses %s", async (_, cache, problem) => {
    const hooks = [{ command: "npm ci", cache }];
    await expect(runWith(hooks)).rejects.toMatchObject({
      name: "InvalidOptionsError",
      option: "hooks.sandbox.onSandboxReady[0].cache",
      problem: expect.stringContaining(problem),
    });
    expect(() => checkProjectConfig({ hooks: { sandbox: { onSandboxReady: hooks } } })).toThrow(problem);
  });

  it("is refused for a hook of the host", async () => {
    const host = { onSandboxReady: [{ command: "npm ci", cache: {} }] };
    const options = { agent: scripted([]), sandbox: testIsolated(), prompt: "x", hooks: { host } };
    await expect(run(options as never)).rejects.toThrow(/hooks\.host\.onSandboxReady\[0\].*cache/);
  });

  it("must not come after a hook without it", async () => {
    const hooks = [{ command: "true" }, { command: "npm ci", cache: {} }];
    await expect(runWith(hooks)).rejects.toThrow(
      'the hook "npm ci" has `cache`, and runs after "true", which has none: move it up',
    );
  });
});

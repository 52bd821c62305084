import { describe, expect, it } from "vitest";
import {
  createIsolatedSandboxProvider,
  createStandaloneSandbox,
  type IsolatedSandboxHandle,
  run,
  SandboxError,
  scripted,
} from "../../../src/index.ts";
import type { SandboxHandle } from "../../../src/sandboxes/contract.ts";
import { openHandle } from "../../../src/sandboxes/handle/openHandle.ts";
import { testIsolated } from "../../../src/sandboxes/test-isolated.ts";
import { git, temporaryRepository } from "../../helpers/repository/repository.ts";

type Change = (handle: IsolatedSandboxHandle) => unknown;

/** A custom provider whose handles break the contract. */
const mine = (change: Change) => {
  const inner = testIsolated();
  const closed: string[] = [];
  const provider = createIsolatedSandboxProvider({
    name: "mine",
    create: async (options) => {
      const made = await inner.create(options);
      const close = async () => {
        closed.push(made.name);
        await made.close();
      };
      return change(Object.assign(Object.create(made), made, { close })) as IsolatedSandboxHandle;
    },
  });
  return { provider, closed };
};

const failureOf = async (change: Change) => {
  const { provider, closed } = mine(change);
  const options = { agent: scripted([{ commit: "x" }]), sandbox: provider, prompt: "x" };
  const error = await run({ ...options, cwd: temporaryRepository() }).catch((reason) => reason);
  expect(error).toBeInstanceOf(SandboxError);
  return { message: (error as Error).message, closed };
};

const answering = (operation: string, answer: unknown): Change => {
  return (handle) => Object.assign(handle, { [operation]: async () => answer });
};

describe("a provider's answer that is not what the contract says", () => {
  it.each([
    ["nothing", undefined, "exec() resolved with undefined"],
    ["a text", "out", "exec() resolved with a string"],
    ["no streams", { exitCode: 0 }, "exec() resolved with { exitCode: 0 }"],
    [
      "no exit code",
      { stdout: "secret", stderr: "", exitCode: null },
      "exec() resolved with { stdout: a string, stderr: an empty string, exitCode: null }",
    ],
  ])("is named with its provider: exec with %s", async (_, answer, problem) => {
    const { message, closed } = await failureOf(answering("exec", answer));
    expect(message).toContain(
      `The mine sandbox: ${problem}; it must resolve with { stdout: string, stderr: string, exitCode: whole number }`,
    );
    expect(closed).toHaveLength(1);
  });

  it("is refused by a sandbox without a repository as well", async () => {
    const { provider } = mine(answering("exec", undefined));
    await using sandbox = await createStandaloneSandbox(provider);
    await expect(sandbox.run("true")).rejects.toThrow("The mine sandbox: exec() resolved with undefined");
  });
});

describe("an error of a provider", () => {
  const failing = (reason: unknown): SandboxHandle => ({
    name: "mine-1",
    worktreePath: "/repo",
    exec: () => Promise.reject(reason),
    copyFileOut: async () => {},
    close: async () => {},
  });
  const open = (reason: unknown) => openHandle({ name: "mine", type: "none" }, async () => failing(reason));

  it("names the provider and the operation", async () => {
    const handle = await open(new TypeError("oops"));
    const failure = await handle.exec("true").catch((error) => error);
    expect(failure).toBeInstanceOf(SandboxError);
    expect(failure.message).toContain("The mine sandbox: exec failed");
    expect(failure.output).toContain("oops");
  });

  it("is the reason of the aborted signal itself", async () => {
    const reason = { stopped: true };
    const handle = await open(reason);
    await expect(handle.exec("true", { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    const create = () => Promise.reject(new Error("stopped"));
    const opened = openHandle({ name: "mine", type: "none" }, create, AbortSignal.abort(reason));
    await expect(opened).rejects.toBe(reason);
  });
});

describe("an incomplete handle", () => {
  it("is named with its provider", async () => {
    const { provider } = mine((handle) => handle.close());
    const attempt = createStandaloneSandbox(provider);
    await expect(attempt).rejects.toThrow("The mine sandbox: create() resolved with undefined");
  });

  it("has its missing and wrong members listed, and is closed", async () => {
    const { message, closed } = await failureOf((handle) =>
      Object.assign(handle, { exec: undefined, copyIn: 5, worktreePath: "here", interactiveExec: "sh" }),
    );
    for (const problem of [
      "exec must be a function; got undefined",
      "copyIn must be a function; got 5",
      "worktreePath must be an absolute path; got a string",
      "interactiveExec must be a function; got a string",
    ]) {
      expect(message).toContain(problem);
    }
    expect(closed).toHaveLength(1);
  });
});

it("a sandbox provider without create, or without a name, is refused before anything starts", async () => {
  const cwd = temporaryRepository();
  for (const sandbox of [
    { type: "isolated", name: "mine" },
    { ...testIsolated(), name: "" },
  ]) {
    const attempt = run({ agent: scripted([]), sandbox: sandbox as never, prompt: "x", cwd });
    await expect(attempt).rejects.toMatchObject({ name: "InvalidOptionsError", option: "sandbox" });
  }
});

it("a frozen handle is as good as any other", async () => {
  const cwd = temporaryRepository();
  const { provider, closed } = mine(Object.freeze);
  const branchStrategy = { type: "branch", branch: "agent/x" } as const;
  await run({ agent: scripted([{ commit: "x" }]), sandbox: provider, prompt: "x", cwd, branchStrategy });
  expect(git(cwd, "log", "-1", "--format=%s", "agent/x")).toBe("x");
  expect(closed).not.toEqual([]);
});

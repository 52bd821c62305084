// What the compiler must refuse at the entryPoints beside run(). The functions are never called: `tsc` is the judge, and an
// error that does not come is an error itself.
import { expect, it } from "vitest";
import {
  command,
  createSandbox,
  createWorktree,
  interactive,
  run,
  type Sandbox,
  type Worktree,
} from "../../src/index.ts";
import { docker } from "../../src/sandboxes/docker.ts";
import { noSandbox } from "../../src/sandboxes/no-sandbox.ts";
import { testIsolated } from "../../src/sandboxes/test-isolated.ts";

const agent = command("true", { interactive: "true" });
const work = { agent, prompt: "x" };
const branchStrategy = { type: "branch", branch: "b" } as const;
const hook = [{ command: "true" }];
const logging = { type: "file", onAgentStreamEvent: () => {} } as const;
declare const sandbox: Sandbox;
declare const worktree: Worktree;

it("createWorktree() takes branch and merge-to-head, and refuses head", () => {
  const cases = [
    // @ts-expect-error with head there would be no worktree
    () => createWorktree({ branchStrategy: { type: "head" } }),
    // @ts-expect-error no strategy
    () => createWorktree({}),
    // @ts-expect-error no name
    () => createWorktree({ branchStrategy: { type: "branch" } }),
    () => createWorktree({ branchStrategy: { type: "merge-to-head" } }),
    () => createWorktree({ branchStrategy: { type: "branch", branch: "b", from: "main" } }),
  ];
  expect(cases).toHaveLength(5);
});

it("no-sandbox is for interactive sessions only", () => {
  const cases = [
    // @ts-expect-error an unattended agent needs a sandbox
    () => run({ ...work, sandbox: noSandbox() }),
    // @ts-expect-error there is no sandbox to be made
    () => createSandbox({ branch: "b", sandbox: noSandbox() }),
    // @ts-expect-error an unattended agent needs a sandbox
    () => worktree.run({ ...work, sandbox: noSandbox() }),
    // @ts-expect-error there is no sandbox to be made
    () => worktree.createSandbox({ sandbox: noSandbox() }),
    () => interactive({ agent, sandbox: noSandbox() }),
    () => worktree.interactive({ agent, sandbox: noSandbox() }),
    () => worktree.interactive({ agent }),
  ];
  expect(cases).toHaveLength(7);
});

it("a branch strategy is chosen with run() and createWorktree(), and nowhere else", () => {
  const cases = [
    // @ts-expect-error the sandbox provider's default
    () => interactive({ agent, sandbox: docker(), branchStrategy }),
    // @ts-expect-error it has a branch
    () => createSandbox({ branch: "b", sandbox: docker(), branchStrategy }),
    // @ts-expect-error it has one
    () => worktree.run({ ...work, sandbox: docker(), branchStrategy }),
    // @ts-expect-error it has one
    () => worktree.interactive({ agent, branchStrategy }),
    // @ts-expect-error it has one
    () => worktree.createSandbox({ sandbox: docker(), branchStrategy }),
    // @ts-expect-error it has a branch
    () => sandbox.run({ ...work, branchStrategy }),
    // @ts-expect-error it has a branch
    () => sandbox.interactive({ agent, branchStrategy }),
    // @ts-expect-error no branch
    () => createSandbox({ sandbox: docker() }),
    // @ts-expect-error no sandbox
    () => createSandbox({ branch: "b" }),
    () => createSandbox({ branch: "b", sandbox: testIsolated(), from: "main" }),
  ];
  expect(cases).toHaveLength(10);
});

it("an existing sandbox has its worktree and its hooks, and resumes no agent session", () => {
  const cases = [
    // @ts-expect-error it is one
    () => sandbox.run({ ...work, sandbox: docker() }),
    // @ts-expect-error it has one
    () => sandbox.run({ ...work, cwd: "/" }),
    // @ts-expect-error they have run
    () => sandbox.run({ ...work, hooks: {} }),
    // @ts-expect-error it has been made
    () => sandbox.run({ ...work, copyToWorktree: ["x"] }),
    // @ts-expect-error nothing is copied
    () => sandbox.run({ ...work, timeouts: { copyToWorktreeMs: 1 } }),
    // @ts-expect-error only for run()
    () => sandbox.run({ ...work, resumeSession: "1" }),
    // @ts-expect-error it is one
    () => sandbox.interactive({ agent, sandbox: docker() }),
    // @ts-expect-error it has one
    () => worktree.run({ ...work, sandbox: docker(), cwd: "/" }),
    // @ts-expect-error it has been made
    () => worktree.createSandbox({ sandbox: docker(), copyToWorktree: ["x"] }),
    () => sandbox.run({ ...work, maxIterations: 2, timeouts: { promptExpansionMs: 1 } }),
  ];
  expect(cases).toHaveLength(10);
});

it("each entry point has the hooks of what it makes", () => {
  const worktreeHooks = { host: { onWorktreeReady: hook } } as const;
  const sandboxHooks = { host: { onSandboxReady: hook }, sandbox: { onSandboxReady: hook } } as const;
  const cases = [
    () => createWorktree({ branchStrategy, hooks: worktreeHooks }),
    // @ts-expect-error there is no sandbox
    () => createWorktree({ branchStrategy, hooks: { host: { onSandboxReady: hook } } }),
    // @ts-expect-error there is no sandbox
    () => createWorktree({ branchStrategy, hooks: { sandbox: { onSandboxReady: hook } } }),
    () => worktree.run({ ...work, sandbox: docker(), hooks: sandboxHooks }),
    // @ts-expect-error the worktree is there
    () => worktree.run({ ...work, sandbox: docker(), hooks: { host: { onWorktreeReady: hook } } }),
    // @ts-expect-error the worktree is there
    () => worktree.createSandbox({ sandbox: docker(), hooks: { host: { onWorktreeReady: hook } } }),
    // @ts-expect-error the worktree is there
    () => worktree.interactive({ agent, hooks: { host: { onWorktreeReady: hook } } }),
    () =>
      createSandbox({
        branch: "b",
        sandbox: docker(),
        hooks: { ...sandboxHooks, host: { onWorktreeReady: hook } },
      }),
    () => interactive({ agent, sandbox: docker(), hooks: { host: { onWorktreeReady: hook } } }),
  ];
  expect(cases).toHaveLength(9);
});

it("an interactive session may begin without a prompt, and never with two", () => {
  const cases = [
    () => interactive({ agent, sandbox: docker() }),
    () => interactive({ agent, sandbox: docker(), prompt: "x", cwd: "/" }),
    () => sandbox.interactive({ agent, promptFile: "x", promptArgs: { N: 1 } }),
    // @ts-expect-error both
    () => interactive({ agent, sandbox: docker(), prompt: "x", promptFile: "y" }),
    // @ts-expect-error both
    () => worktree.interactive({ agent, prompt: "x", promptFile: "y" }),
    // @ts-expect-error both
    () => sandbox.interactive({ agent, prompt: "x", promptFile: "y" }),
    // @ts-expect-error nothing is filled in without a file
    () => interactive({ agent, sandbox: docker(), promptArgs: { N: 1 } }),
    // @ts-expect-error no agent
    () => interactive({ sandbox: docker() }),
    // @ts-expect-error no sandbox
    () => interactive({ agent }),
    // @ts-expect-error a person counts for themselves
    () => interactive({ agent, sandbox: docker(), maxIterations: 2 }),
  ];
  expect(cases).toHaveLength(10);
});

it("events of an agent are for those who have one", () => {
  const cases = [
    // @ts-expect-error there is no agent
    () => createSandbox({ branch: "b", sandbox: docker(), logging: { ...logging, onAgentStreamEvent() {} } }),
    // @ts-expect-error there is no agent
    () => createWorktree({ branchStrategy, logging: { type: "file", onAgentStreamEvent() {} } }),
    // @ts-expect-error there is no agent
    () => worktree.createSandbox({ sandbox: docker(), logging: { type: "file", onAgentStreamEvent() {} } }),
    () => createSandbox({ branch: "b", sandbox: docker(), logging: { type: "stdout", verbose: true } }),
    () => sandbox.run({ ...work, logging }),
    () => worktree.run({ ...work, sandbox: docker(), logging }),
  ];
  expect(cases).toHaveLength(6);
});

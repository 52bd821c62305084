// What sandboxes and worktrees that last promise by their types. The functions are never called: `tsc` is the judge, and an
// error that does not come is an error itself.
import { expect, expectTypeOf, it } from "vitest";
import { z } from "zod";
import {
  type AgentProvider,
  type CloseResult,
  type Commit,
  command,
  createBindMountSandboxProvider,
  createWorktree,
  type ExecResult,
  type InteractiveResult,
  interactive,
  Output,
  type Sandbox,
  type SandboxExecResult,
  type SandboxRunResult,
  type Worktree,
} from "../../src/index.ts";
import { docker } from "../../src/sandboxes/docker.ts";

const agent = command("true", { interactive: "true" });
const work = { agent, prompt: "x" };
const branchStrategy = { type: "branch", branch: "b" } as const;
declare const sandbox: Sandbox;
declare const worktree: Worktree;

it("the output of a run has the type that its schema says, wherever it takes place", () => {
  const output = Output.object({ tag: "verdict", schema: z.object({ score: z.number() }) });
  const cases = [
    async () => {
      const result = await sandbox.run({ ...work, output });
      expectTypeOf(result).toEqualTypeOf<SandboxRunResult<{ score: number }>>();
    },
    async () => {
      const result = await worktree.run({ ...work, sandbox: docker(), output });
      expectTypeOf(result.output).toEqualTypeOf<{ score: number }>();
    },
    async () => expectTypeOf((await sandbox.run(work)).output).toEqualTypeOf<undefined>(),
    async () =>
      expectTypeOf((await worktree.run({ ...work, sandbox: docker() })).output).toEqualTypeOf<undefined>(),
  ];
  expect(cases).toHaveLength(4);
});

it("the results have the promised shapes", () => {
  expectTypeOf<InteractiveResult["exitCode"]>().toEqualTypeOf<number>();
  expectTypeOf<InteractiveResult["commits"]>().toEqualTypeOf<Commit[]>();
  expectTypeOf<InteractiveResult["branch"]>().toEqualTypeOf<string>();
  expectTypeOf<InteractiveResult["preservedWorktreePath"]>().toEqualTypeOf<string | undefined>();
  expectTypeOf<keyof InteractiveResult & ("output" | "iterations")>().toBeNever();
  expectTypeOf<InteractiveResult["logFilePath"]>().toEqualTypeOf<string>();
  expectTypeOf<keyof CloseResult>().toEqualTypeOf<"commits" | "preservedWorktreePath" | "warnings">();
  expectTypeOf<CloseResult["preservedWorktreePath"]>().toEqualTypeOf<string | undefined>();
  expectTypeOf<keyof SandboxExecResult>().toEqualTypeOf<
    "stdout" | "stderr" | "exitCode" | "commits" | "keptRefs" | "protectedPaths" | "warnings"
  >();
  const cases = [
    async () =>
      expectTypeOf(await interactive({ agent, sandbox: docker() })).toEqualTypeOf<InteractiveResult>(),
    async () => expectTypeOf(await worktree.interactive({ agent })).toEqualTypeOf<InteractiveResult>(),
    async () => expectTypeOf(await sandbox.interactive({ agent })).toEqualTypeOf<InteractiveResult>(),
    async () => expectTypeOf(await sandbox.exec("true")).toEqualTypeOf<SandboxExecResult>(),
    async () => expectTypeOf(await sandbox.close()).toEqualTypeOf<CloseResult>(),
    async () => expectTypeOf(await worktree.close()).toEqualTypeOf<CloseResult>(),
    async () => expectTypeOf(await worktree.createSandbox({ sandbox: docker() })).toEqualTypeOf<Sandbox>(),
  ];
  expect(cases).toHaveLength(7);
});

it("a command in a sandbox has plain values for its env vars, and is never root", () => {
  const cases = [
    // @ts-expect-error no sudo
    () => sandbox.exec("true", { sudo: true }),
    // @ts-expect-error a value is known, or it is none
    () => sandbox.exec("true", { env: { A: () => "a" } }),
    // @ts-expect-error no command
    () => sandbox.exec(),
    () =>
      sandbox.exec("cat", {
        stdin: new Uint8Array(),
        env: { A: "a", B: { public: "b" } },
        captureBytes: 10,
        cwd: "/tmp",
      }),
  ];
  expect(cases).toHaveLength(4);
});

it("sandboxes and worktrees end with the block that holds them", () => {
  expectTypeOf<Sandbox>().toExtend<AsyncDisposable>();
  expectTypeOf<Worktree>().toExtend<AsyncDisposable>();
  const use = async () => {
    await using made = await createWorktree({ branchStrategy });
    await using inside = await made.createSandbox({ sandbox: docker() });
    return inside.branch;
  };
  expect(use).toBeTypeOf("function");
});

it("agents of others may have a terminal interface, and need not", () => {
  const bare: AgentProvider = {
    name: "mine",
    buildCommand: ({ prompt }) => ({ command: ["mine"], stdin: prompt }),
    createParser: () => () => [],
  };
  const mine: AgentProvider = {
    ...bare,
    interactiveCommand: ({ prompt, dangerouslySkipPermissions }) => {
      expectTypeOf(prompt).toEqualTypeOf<string | undefined>();
      expectTypeOf(dangerouslySkipPermissions).toEqualTypeOf<boolean>();
      return {
        command: ["mine", ...(dangerouslySkipPermissions ? ["--yes"] : []), ...(prompt ? [prompt] : [])],
      };
    },
  };
  expect(mine.interactiveCommand?.({ prompt: "x", dangerouslySkipPermissions: false, cwd: "/" })).toEqual({
    command: ["mine", "x"],
  });
  expect(bare.interactiveCommand).toBeUndefined();
});

it("sandboxes of others may have a terminal, and need not", () => {
  const handle = {
    name: "mine",
    worktreePath: "/work",
    exec: async (): Promise<ExecResult> => ({ stdout: "", stderr: "", exitCode: 0 }),
    copyFileIn: async () => {},
    copyFileOut: async () => {},
    close: async () => {},
  };
  const bare = createBindMountSandboxProvider({ name: "mine", create: async () => handle });
  const mine = createBindMountSandboxProvider({
    name: "mine",
    create: async () => ({ ...handle, interactiveExec: async () => ({ exitCode: 0 }) }),
  });
  expect([bare.type, mine.type]).toEqual(["bind-mount", "bind-mount"]);
});

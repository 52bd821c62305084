// What the compiler must refuse. The functions are never called: `tsc` is the judge, and an error that does not come is
// an error itself.
import { expect, expectTypeOf, it } from "vitest";
import { z } from "zod";
import {
  command,
  createIsolatedSandboxProvider,
  type EnvVars,
  type ExecResult,
  type Hooks,
  Output,
  type RunResult,
  run,
} from "../../src/index.ts";
import { docker } from "../../src/sandboxes/docker.ts";
import { testIsolated } from "../../src/sandboxes/test-isolated.ts";

const agent = command("true");

it("head is a compile-time error for an isolated sandbox, and fine for a bind-mount one", () => {
  const cases = [
    // @ts-expect-error an isolated sandbox has no host directory to work in
    () => run({ agent, sandbox: testIsolated(), prompt: "x", branchStrategy: { type: "head" } }),
    () => run({ agent, sandbox: testIsolated(), prompt: "x", branchStrategy: { type: "merge-to-head" } }),
    () => run({ agent, sandbox: docker(), prompt: "x", branchStrategy: { type: "head" } }),
    () => run({ agent, sandbox: docker(), prompt: "x", branchStrategy: { type: "branch", branch: "b" } }),
  ];
  expect(cases).toHaveLength(4);
});

it("a prompt is text or a file, never both and never neither", () => {
  const cases = [
    // @ts-expect-error both
    () => run({ agent, sandbox: docker(), prompt: "x", promptFile: "y" }),
    // @ts-expect-error neither
    () => run({ agent, sandbox: docker() }),
    () => run({ agent, sandbox: docker(), promptFile: "y" }),
  ];
  expect(cases).toHaveLength(3);
});

it("a named branch strategy needs the branch's name, and unknown options do not exist", () => {
  const cases = [
    // @ts-expect-error no name
    () => run({ agent, sandbox: docker(), prompt: "x", branchStrategy: { type: "branch" } }),
    // @ts-expect-error no such option
    () => run({ agent, sandbox: docker(), prompt: "x", maxIteration: 3 }),
    // @ts-expect-error no sandbox
    () => run({ agent, prompt: "x" }),
  ];
  expect(cases).toHaveLength(3);
});

it("a custom isolated sandbox provider compiles against the contract", () => {
  const mine = createIsolatedSandboxProvider({
    name: "mine",
    create: async ({ sandboxName }) => ({
      name: sandboxName,
      worktreePath: "/work",
      exec: async (): Promise<ExecResult> => ({ stdout: "", stderr: "", exitCode: 0 }),
      copyIn: async () => {},
      copyFileOut: async () => {},
      close: async () => {},
    }),
  });
  expect(mine.type).toBe("isolated");
  expect(mine.name).toBe("mine");
});

it("the result has the promised shape", () => {
  const read = (result: RunResult) => {
    const count: number = result.iterations.length;
    const shas: string[] = result.commits.map(({ sha }) => sha);
    const signal: string | undefined = result.completionSignal;
    const log: string = result.logFilePath;
    const tokens: number | undefined = result.iterations[0]?.usage?.outputTokens;
    return { count, shas, signal, log, tokens, branch: result.branch.length, stdout: result.stdout.length };
  };
  expect(read).toBeTypeOf("function");
});

it("prompt arguments are for templates, and values that are not text do not compile", () => {
  const cases = [
    // @ts-expect-error an inline prompt is handed over as it is
    () => run({ agent, sandbox: docker(), prompt: "x", promptArgs: { N: 1 } }),
    // @ts-expect-error not text
    () => run({ agent, sandbox: docker(), promptFile: "x", promptArgs: { N: undefined } }),
    () => run({ agent, sandbox: docker(), promptFile: "x", promptArgs: { N: 1, S: "s", B: true } }),
  ];
  expect(cases).toHaveLength(3);
});

it("hooks on the host have neither sudo nor cwd; hooks in the sandbox have sudo", () => {
  const cases: Hooks[] = [
    // @ts-expect-error no sudo on the host
    { host: { onSandboxReady: [{ command: "true", sudo: true }] } },
    // @ts-expect-error no cwd
    { host: { onWorktreeReady: [{ command: "true", cwd: "/" }] } },
    { sandbox: { onSandboxReady: [{ command: "true", timeoutMs: 1, sudo: true }] } },
  ];
  expect(cases).toHaveLength(3);
});

it("env vars are declared on agents, sandboxes and runs", () => {
  const env: EnvVars = {
    A: "a",
    B: () => "b",
    C: async () => "c",
    D: { command: "pass d" },
    E: { public: "e" },
    F: undefined,
  };
  const cases = [
    () => run({ agent: command("true", { env }), sandbox: docker({ env }), prompt: "x", env }),
    // @ts-expect-error a number is not a value
    () => run({ agent, sandbox: docker(), prompt: "x", env: { PORT: 80 } }),
  ];
  expect(cases).toHaveLength(2);
});

it("the output of a run has the type that its schema says, and there is none without the option", () => {
  const options = { agent, sandbox: docker(), prompt: "x" };
  const cases = [
    async () => {
      const schema = z.object({ score: z.number() });
      const { output } = await run({ ...options, output: Output.object({ tag: "verdict", schema }) });
      expectTypeOf(output).toEqualTypeOf<{ score: number }>();
    },
    async () => {
      const { output } = await run({ ...options, output: Output.string({ tag: "summary" }) });
      expectTypeOf(output).toEqualTypeOf<string>();
    },
    async () => expectTypeOf((await run(options)).output).toEqualTypeOf<undefined>(),
  ];
  expect(cases).toHaveLength(3);
});

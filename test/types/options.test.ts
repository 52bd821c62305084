// What the compiler must refuse. The functions are never called: `tsc` is the judge, and an error that does not come is
// an error itself.
import { expect, it } from "vitest";
import {
  command,
  createIsolatedSandboxProvider,
  type ExecResult,
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
    const log: string | undefined = result.logFilePath;
    const tokens: number | undefined = result.iterations[0]?.usage?.outputTokens;
    return { count, shas, signal, log, tokens, branch: result.branch.length, stdout: result.stdout.length };
  };
  expect(read).toBeTypeOf("function");
});

import { expect } from "vitest";
import { command } from "../../../src/agents/command/provider.ts";
import { InvalidOptionsError } from "../../../src/errors.ts";
import * as validate from "../../../src/options/checks/entryPoints.ts";
import { testIsolated } from "../../../src/sandboxes/test-isolated.ts";
import { thrownBy } from "../../helpers/processes/thrownBy.ts";

export const agent = command("true", { interactive: "true" });
export const sandbox = testIsolated();
export const branchStrategy = { type: "branch", branch: "b" };

/** The check of each entry point, as plain JavaScript would call it, and options that it takes. */
const ENTRY_POINTS: Readonly<Record<string, readonly [check: (options: never) => void, good: object]>> = {
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

export const ALL = Object.keys(ENTRY_POINTS);
export const those = (pattern: RegExp) => ALL.filter((entryPoint) => pattern.test(entryPoint));
export const except = (entryPoints: readonly string[]) =>
  ALL.filter((entryPoint) => !entryPoints.includes(entryPoint));
export const RUNS = those(/run/);
export const SESSIONS = those(/interactive/);
export const WITH_AGENT = [...RUNS, ...SESSIONS];
export const MAKERS = those(/create/);
export const IN_SANDBOX = those(/^sandbox\./);
export const IN_WORKTREE = those(/^worktree\./);
/** They make the checkout. */
export const OUTER = except([...IN_SANDBOX, ...IN_WORKTREE]);
/** They make a sandbox, or go into one that is named. */
export const WITH_SANDBOX = except([...IN_SANDBOX, "createWorktree()"]);

export const expectRefused = (check: () => void, option: string, problem: RegExp): void => {
  const error = thrownBy(check);
  expect(error).toBeInstanceOf(InvalidOptionsError);
  expect(error).toMatchObject({ option, message: expect.stringMatching(problem) });
};

export const checkOptions = (entryPoint: string, options: unknown): void =>
  ENTRY_POINTS[entryPoint]?.[0](options as never);
export const checkWith = (entryPoint: string, wrong: object): void =>
  checkOptions(entryPoint, { ...ENTRY_POINTS[entryPoint]?.[1], ...wrong });

export type Case = readonly [
  what: string,
  entryPoints: readonly string[],
  wrong: object,
  option: string,
  problem: RegExp,
];

/** Each case for each of its entry points: they come first, as a title has them. */
export const casesFor = (cases: readonly Case[]) =>
  cases.flatMap(([what, entryPoints, ...rest]) =>
    entryPoints.map((entryPoint) => [entryPoint, what, ...rest] as const),
  );

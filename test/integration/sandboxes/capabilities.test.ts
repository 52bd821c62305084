import { execFileSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  command,
  createSandbox,
  createStandaloneSandbox,
  createWorktree,
  type IsolatedSandboxProvider,
  run,
  type SandboxCapabilities,
  type SandboxProvider,
  SandboxUnavailableError,
} from "../../../src/index.ts";
import { testIsolated } from "../../../src/sandboxes/test-isolated.ts";
import { bundle } from "../../helpers/bundle.ts";
import { git, temporaryRepository } from "../../helpers/repository/repository.ts";

const agent = command("true");
const hooks = { sandbox: { onSandboxReady: [{ command: "true", sudo: true }] } };
const harmless = { sandbox: { onSandboxReady: [{ command: "true" }] } };

/** A sandbox provider that can do as much as it says, and remembers what it was asked for. */
const withCapabilities = (capabilities: SandboxCapabilities) => {
  const calls: string[] = [];
  const inner = testIsolated();
  const provider: IsolatedSandboxProvider = {
    ...inner,
    name: "weak",
    capabilities,
    preflight: async () => void calls.push("preflight"),
    create: (options) => {
      calls.push("create");
      return inner.create(options);
    },
  };
  return { provider, calls };
};

const entryPoints: Record<string, (sandbox: SandboxProvider, cwd: string) => Promise<unknown>> = {
  "run()": (sandbox, cwd) => run({ agent, sandbox, cwd, hooks, prompt: "x" }),
  "createSandbox()": (sandbox, cwd) => createSandbox({ sandbox, cwd, hooks, branch: "b" }),
  "createStandaloneSandbox()": (sandbox) => createStandaloneSandbox(sandbox, { usesSudo: true }),
};

const refsOf = (cwd: string): string => git(cwd, "for-each-ref");

describe("a sandbox without root", () => {
  it.each(Object.keys(entryPoints))(
    "is refused by %s where root is asked for, before anybody is asked and anything is created",
    async (name) => {
      const cwd = temporaryRepository();
      const [files, refs] = [readdirSync(cwd), refsOf(cwd)];
      const { provider, calls } = withCapabilities({ sudo: false });
      const error = await entryPoints[name]?.(provider, cwd).then(
        () => expect.unreachable(),
        (reason: unknown) => reason,
      );
      expect(error).toBeInstanceOf(SandboxUnavailableError);
      expect(error).toMatchObject({
        sandbox: "weak",
        problem: "it has no root user, so `sudo` is not possible",
      });
      expect(calls).toEqual([]);
      expect([readdirSync(cwd), refsOf(cwd)]).toEqual([files, refs]);
    },
  );

  it("is refused by a worktree that lasts, which lasts on and does what needs no root", async () => {
    await using worktree = await createWorktree({
      cwd: temporaryRepository(),
      branchStrategy: { type: "branch", branch: "b" },
    });
    const { provider: sandbox, calls } = withCapabilities({ sudo: false, terminal: false, liveInput: false });
    await expect(worktree.createSandbox({ sandbox, hooks })).rejects.toBeInstanceOf(SandboxUnavailableError);
    await expect(worktree.run({ agent, sandbox, hooks, prompt: "x" })).rejects.toBeInstanceOf(
      SandboxUnavailableError,
    );
    expect(calls).toEqual([]);
    await worktree.run({ agent, sandbox, hooks: harmless, prompt: "x" });
    expect(calls).toEqual(["preflight", "create"]);
  });
});

describe("what a caller needs of a sandbox", () => {
  it.each<[SandboxCapabilities, SandboxCapabilities, RegExp]>([
    [{ sudo: false }, { sudo: true }, /no root user/],
    [{ terminal: false }, { terminal: true }, /does not support a terminal/],
    [{ liveInput: false }, { liveInput: true }, /input to a running command/],
    [{ extension: false }, { extension: true }, /cannot be extended/],
    [{ networkPolicy: "none" }, { networkPolicy: "on-off" }, /cannot be restricted/],
    [{ networkPolicy: "on-off" }, { networkPolicy: "domains" }, /cannot be restricted/],
  ])(
    "is missing: with %j, %j is refused before anything is created",
    async (capabilities, needs, problem) => {
      const { provider, calls } = withCapabilities(capabilities);
      const error = await createStandaloneSandbox(provider, { needs }).catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(SandboxUnavailableError);
      expect(String(error)).toMatch(problem);
      expect(calls).toEqual([]);
    },
  );

  it.each<[SandboxCapabilities, SandboxCapabilities]>([
    [
      { sudo: false, networkPolicy: "on-off" },
      { sudo: false, networkPolicy: "on-off" },
    ],
    [{ networkPolicy: "domains" }, { networkPolicy: "on-off", liveInput: true }],
    [{}, { sudo: true, terminal: true, liveInput: true, extension: true, networkPolicy: "domains" }],
  ])("is there: with %j, so is %j", async (capabilities, needs) => {
    const { provider, calls } = withCapabilities(capabilities);
    await using _sandbox = await createStandaloneSandbox(provider, { needs });
    expect(calls).toEqual(["preflight", "create"]);
  });

  it("is told apart from what is not known", async () => {
    const { provider, calls } = withCapabilities({});
    const needs = { networkPolicy: "some" } as unknown as SandboxCapabilities;
    await expect(createStandaloneSandbox(provider, { needs })).rejects.toThrow(
      /needs\.networkPolicy.*on-off/,
    );
    const others = { gpu: true } as unknown as SandboxCapabilities;
    await expect(createStandaloneSandbox(provider, { needs: others })).rejects.toThrow(/needs\.gpu/);
    expect(calls).toEqual([]);
  });
});

it("what a sandbox provider says nothing about, its preflight decides", async () => {
  const { provider, calls } = withCapabilities({});
  await using _sandbox = await createStandaloneSandbox(provider, { usesSudo: true });
  expect(calls).toEqual(["preflight", "create"]);
});

it("a sandbox without a terminal is refused by interactive(), before any question is asked", () => {
  const cwd = temporaryRepository();
  const program = bundle(join(import.meta.dirname, "capabilitiesProgram.ts"));
  const files = readdirSync(cwd);
  // `script` of util-linux gives the program a terminal.
  const line = [process.execPath, program, cwd].map((word) => `'${word}'`).join(" ");
  const printed = execFileSync("script", ["-qec", line, "/dev/null"], { encoding: "utf8" });
  const { outcome, calls } = JSON.parse(printed.split("\n").find((text) => text.startsWith("{")) ?? "");
  expect(outcome).toMatch(/^SandboxUnavailableError: .*deaf sandbox.*it does not support a terminal/);
  expect(calls).toEqual([]);
  expect(readdirSync(cwd)).toEqual(files);
});

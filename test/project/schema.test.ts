import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, it } from "vitest";
import { readTaskLines } from "../../src/cli/run/taskLine.ts";
import { checkProjectConfig } from "../../src/project/config.ts";

const ROOT = join(import.meta.dirname, "../..");
const schemaOf = (name: string) =>
  JSON.parse(readFileSync(join(ROOT, `schemas/${name}.schema.json`), "utf8"));
/** In strict mode, a keyword that no validator knows is an error. */
const bySchema = (name: string) =>
  new Ajv2020({ strict: true, strictRequired: false }).compile(schemaOf(name));

const accepts = (check: () => unknown): boolean => {
  try {
    check();
    return true;
  } catch {
    return false;
  }
};

const HOOK = { command: "npm ci", timeoutMs: 300_000 };

const RIGHT_CONFIGS: readonly object[] = [
  {},
  { $schema: "../node_modules/@missingstudio/sanddune/schemas/config.schema.json" },
  { agent: "codex", model: "m", sandbox: "docker", imageName: "sanddune:x", backlog: "none" },
  { agent: "command", agentCommand: "sh ./agent.sh", sandbox: ".sanddune/mine.mjs" },
  { network: "none", memory: "4g", cpus: 1.5, pids: 100 },
  { network: ["a", "b"], mounts: [{ hostPath: "~/.npm", sandboxPath: "/npm", readOnly: true }] },
  { readOnlyPaths: ["/opt/node"], path: "/opt/node/bin:/usr/bin" },
  { branchStrategy: { type: "head" } },
  { branchStrategy: { type: "merge-to-head" } },
  { branchStrategy: { type: "branch", branch: "agent/x", from: "main" } },
  { hooks: { host: { onWorktreeReady: [HOOK], onSandboxReady: [] } } },
  { hooks: { sandbox: { onSandboxReady: [{ ...HOOK, sudo: true }] } } },
  { copyToWorktree: ["node_modules"], maxIterations: 3, idleTimeoutSeconds: 0.5 },
];

const WRONG_CONFIGS: readonly unknown[] = [
  ...[null, [], "x", 5, { image: "x" }, { agent: "" }, { agent: " " }, { agent: 5 }, { sandbox: null }],
  ...[
    { network: [] },
    { network: "" },
    { network: [""] },
    { network: true },
    { memory: "lots" },
    { memory: 4 },
  ],
  ...[{ cpus: 0 }, { cpus: "2" }, { pids: 1.5 }, { pids: 0 }, { path: "" }, { readOnlyPaths: ["x"] }],
  ...[{ readOnlyPaths: "/x" }, { mounts: {} }, { mounts: [{ hostPath: "x" }] }, { mounts: ["x:/x"] }],
  { mounts: [{ hostPath: "x", sandboxPath: "/x", readonly: true }] },
  ...[{ branchStrategy: "head" }, { branchStrategy: {} }, { branchStrategy: { type: "branch" } }],
  { branchStrategy: { type: "head", branch: "x" } },
  ...[{ hooks: [] }, { hooks: { host: [] } }, { hooks: { host: { onReady: [] } } }],
  { hooks: { host: { onWorktreeReady: [{ ...HOOK, sudo: true }] } } },
  { hooks: { sandbox: { onSandboxReady: [{ command: "" }] } } },
  { hooks: { sandbox: { onSandboxReady: [{ command: "x", timeoutMs: 0 }] } } },
  ...[{ copyToWorktree: "x" }, { copyToWorktree: [""] }, { maxIterations: 0 }, { idleTimeoutSeconds: 3e9 }],
  ...[
    { allowUnsafeMounts: true },
    { capabilities: [] },
    { extraArgs: [] },
    { host: "tcp://x:1" },
    { env: {} },
  ],
];

describe("schemas/config.schema.json", () => {
  const validate = bySchema("config");

  it.each(RIGHT_CONFIGS)("accepts %j, as the commands do", (config) => {
    expect(validate(config), JSON.stringify(validate.errors)).toBe(true);
    expect(checkProjectConfig(config)).toEqual(config);
  });

  it.each(WRONG_CONFIGS.map((config) => [config]))("refuses %j, as the commands do", (config) => {
    expect(validate(config)).toBe(false);
    expect(accepts(() => checkProjectConfig(config))).toBe(false);
  });

  it("has all settings, and no other", () => {
    const refusal = (): unknown => checkProjectConfig({ noSuchSetting: 1 });
    expect(refusal).toThrow(`expected one of: ${Object.keys(schemaOf("config").properties).join(", ")}`);
  });
});

const RIGHT_TASKS: readonly object[] = [
  {},
  { $schema: "task.schema.json", prompt: "x", branch: "b", from: "main", name: "one" },
  { promptFile: "p.md", promptArgs: { ISSUE: 42 }, cwd: "sub", mergeToHead: true },
  { agent: "codex", model: "m", effort: "high", sandbox: "docker", imageName: "i", env: ["A"] },
  { maxIterations: 3, completionSignal: ["DONE"], maxTokens: 5, maxCostUsd: 0.5, outputTag: "t" },
  { idleTimeoutSeconds: 60, completionTimeoutMs: 500, onRateLimit: { waitUpToMs: 60_000 } },
  { timeouts: { copyToWorktreeMs: 1, promptExpansionMs: 2 }, copyToWorktree: ["x"] },
  { environment: "e", isolation: "strict", until: "tests-pass", trajectory: true, artifacts: ["*.log"] },
  { resumeSession: "s", forkSession: true, head: true, agentCommand: "true" },
];
const WRONG_TASKS: readonly object[] = [
  ...[
    { promt: "x" },
    { prompt: "" },
    { prompt: 5 },
    { promptArgs: [] },
    { head: "yes" },
    { maxIterations: "3" },
  ],
  ...[{ idleTimeout: 5 }, { completionTimeout: 5 }, { copyTimeout: 5 }, { copy: ["x"] }, { artifact: ["x"] }],
  ...[
    { onRateLimit: 60 },
    { onRateLimit: {} },
    { timeouts: { copyMs: 5 } },
    { isolation: "none" },
    { env: "A" },
  ],
];

describe("schemas/task.schema.json", () => {
  const validate = bySchema("task");
  const problemsOf = (task: object) => readTaskLines(JSON.stringify(task)).problems;

  it.each(RIGHT_TASKS)("accepts %j, as --tasks does", (task) => {
    expect(validate(task), JSON.stringify(validate.errors)).toBe(true);
    expect(problemsOf(task)).toEqual([]);
  });

  it.each(WRONG_TASKS)("refuses %j, as --tasks does", (task) => {
    expect(validate(task)).toBe(false);
    expect(problemsOf(task)).not.toEqual([]);
  });

  it.each([
    [{ idleTimeout: 5 }, "idleTimeoutSeconds"],
    [{ completionTimeout: 5 }, "completionTimeoutMs"],
    [{ copy: [] }, "copyToWorktree"],
    [{ artifact: [] }, "artifacts"],
  ])("answers the former name %j with the right one", (task, name) => {
    expect(problemsOf(task)[0]?.problem).toContain(`Did you mean "${name}"?`);
  });
});

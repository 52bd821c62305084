import { expect, it } from "vitest";
import type { Adapter } from "../../../src/scenarios/execution/executions.ts";
import { usesBaseUrl } from "../../../src/scenarios/mirror/mirrorUse.ts";
import type { ScenarioSpec } from "../../../src/scenarios/spec.ts";

const FETCHES = { cliCommand: ["tool", "{subcommand}", "--base-url={baseUrl}"] };
const LOCAL = { cliCommand: ["tool", "{subcommand}"] };
const CMD = { cmd: ["true"] };
const CLI = { cli: "install" };
const AGENT = { agent: "install" };

it.each<[string, Partial<ScenarioSpec>, readonly Adapter[], typeof FETCHES, boolean]>([
  ["commands only", { steps: [CMD] }, ["cli"], FETCHES, false],
  ["the tool", { steps: [CLI] }, ["cli"], FETCHES, true],
  ["the tool, as a prerequisite", { prerequisites: [CLI], steps: [CMD] }, ["cli"], FETCHES, true],
  ["a tool that fetches nothing", { steps: [CLI] }, ["cli"], LOCAL, false],
  ["an agent", { steps: [AGENT] }, ["agent"], LOCAL, true],
  ["an agent's step that the tool does", { steps: [AGENT] }, ["cli"], FETCHES, true],
  ["an agent's step that a tool does which fetches nothing", { steps: [AGENT] }, ["cli"], LOCAL, false],
])("a scenario with %s", (_, parts, adapters, suite, expected) => {
  expect(usesBaseUrl({ runnable: "both", ...parts }, adapters, suite)).toBe(expected);
});

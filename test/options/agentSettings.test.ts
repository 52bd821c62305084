import { expect, it } from "vitest";
import { command } from "../../src/index.ts";
import { agentSettings } from "../../src/options/agentSettings.ts";

const agent = command("true");
const DEFAULTS = {
  agent,
  maxIterations: 1,
  completionSignal: "<promise>COMPLETE</promise>",
  idleTimeoutSeconds: 600,
  completionTimeoutMs: 30_000,
  onRateLimit: "fail",
};

it("options that are left out, or undefined, have their defaults", () => {
  expect(agentSettings({ agent })).toEqual(DEFAULTS);
  const withUndefined = { agent, maxIterations: undefined, onRateLimit: undefined, maxTokens: undefined };
  expect(agentSettings(withUndefined as never)).toStrictEqual(DEFAULTS);
});

it("options that are given replace the defaults, and all others are kept", () => {
  const given = { agent, maxIterations: 3, completionSignal: ["A", "B"], maxTokens: 100, name: "one" };
  expect(agentSettings(given)).toEqual({ ...DEFAULTS, ...given });
});

import { constants } from "node:os";
import { describe, expect, it } from "vitest";
import { claudeCode } from "../../src/agents/claudeCode/provider.ts";
import { codex } from "../../src/agents/codex/provider.ts";
import type { AgentProvider } from "../../src/agents/contract.ts";
import { opencode } from "../../src/agents/opencode/provider.ts";
import { pi } from "../../src/agents/pi/provider.ts";
import { AgentVerdict } from "../../src/engine/agent/agentVerdict.ts";
import { replay } from "../helpers/agents/agentEvents.ts";
import { type RecordedAgent, recordedCases, recording } from "../helpers/agents/recordings.ts";

/** How the runs that failed have failed; all others have succeeded. */
const FAILURES: Readonly<Record<string, string>> = {
  "error-400": "AgentFailedError",
  "error-401": "AgentAuthenticationError",
  "error-429": "AgentRateLimitError",
  "error-500": "AgentOverloadedError",
  "error-529": "AgentOverloadedError",
  "max-turns": "AgentFailedError",
  "no-auth": "AgentAuthenticationError",
  "resume-missing": "AgentFailedError",
  "sigint-in-model-wait": "AgentFailedError",
  "sigint-in-tool": "AgentFailedError",
  "sigterm-in-tool": "AgentFailedError",
  "stream-cut": "AgentOverloadedError",
  unreachable: "ModelUnreachableError",
  // It was asked to do nothing.
  "empty-stdin": "AgentFailedError",
  "permission-rejected": "AgentFailedError",
};

/** Recorded without its log, in which it says why it tries again. */
const SILENT = {
  "error-429": "AgentFailedError",
  "error-500": "AgentFailedError",
  "stream-cut": "AgentFailedError",
};

const agents: [AgentProvider, RecordedAgent, Readonly<Record<string, string>>][] = [
  [claudeCode("m"), "claude-code", FAILURES],
  [codex("m"), "codex", FAILURES],
  [opencode("a/b"), "opencode", { ...FAILURES, ...SILENT }],
  // Its words are the same whether a connection breaks or is refused.
  [pi("a/b"), "pi", { ...FAILURES, "stream-cut": "ModelUnreachableError" }],
];

describe.each(agents)("a recorded run of $name", (agent, name, failures) => {
  const failureOf = (each: string) => {
    const recorded = recording(name, each);
    const verdict = new AgentVerdict("docker");
    for (const event of replay(agent, recorded)) verdict.push(event);
    const bySignal = recorded.signal === null ? 0 : 128 + constants.signals[recorded.signal];
    const exit = {
      exitCode: recorded.exitCode ?? bySignal,
      stderr: recorded.stderr.join("\n"),
      program: name,
    };
    return verdict.failureOf(agent, exit);
  };

  it.each(recordedCases(name))("has the right verdict: %s", (each) => {
    expect(failureOf(each)?.constructor.name).toBe(failures[each]);
  });

  it("fails in the agent's own words", () => {
    expect(failureOf("error-401")?.message).toContain("invalid api key");
    expect(failureOf("resume-missing")?.message).toMatch(
      /no conversation|no rollout|session not found|no session/i,
    );
  });
});

import { describe, expect, it } from "vitest";
import type { AgentErrorKind, AgentEvent, AgentProvider } from "../../../src/agents/contract.ts";
import { type AgentExit, AgentVerdict } from "../../../src/engine/agent/agentVerdict.ts";
import {
  AgentAuthenticationError,
  AgentContextLengthError,
  AgentFailedError,
  AgentNotFoundError,
  AgentOverloadedError,
  AgentRateLimitError,
  IdleTimeoutError,
} from "../../../src/errors.ts";

const AGENT: AgentProvider = {
  name: "fake",
  reportsResult: true,
  buildCommand: () => ({ command: "", stdin: "" }),
  createParser: () => () => [],
  installation: { versionCommand: ["fake"], dockerfile: ["RUN get fake"], credentials: [] },
};
const SILENT_AGENT: AgentProvider = { ...AGENT, reportsResult: false };

const exit = (exitCode: number | undefined, stderr = ""): AgentExit => ({
  exitCode,
  stderr,
  program: "fake",
});
const text: AgentEvent = { type: "text", text: "a" };
const over = (isError: boolean, message?: string): AgentEvent => ({
  type: "result",
  isError,
  ...(message !== undefined && { message }),
});
const trouble = (
  kind: AgentErrorKind,
  rest: Partial<Extract<AgentEvent, { type: "error" }>> = {},
): AgentEvent => ({
  type: "error",
  kind,
  message: `its ${kind} words`,
  willRetry: false,
  ...rest,
});

const verdictOn = (events: readonly AgentEvent[], sandbox = "docker"): AgentVerdict => {
  const verdict = new AgentVerdict(sandbox);
  for (const event of events) verdict.push(event);
  return verdict;
};
const failure = (events: readonly AgentEvent[], end: AgentExit, agent = AGENT, sandbox = "docker") =>
  verdictOn(events, sandbox).failureOf(agent, end);

describe("an agent's own verdict", () => {
  it.each([0, 1, 143, undefined])("of success is believed, whatever the exit code is: %j", (code) => {
    expect(failure([text, over(false)], exit(code))).toBeUndefined();
  });

  it.each([0, 1, undefined])("of failure is believed, whatever the exit code is: %j", (code) => {
    expect(failure([text, over(true, "its words")], exit(code))).toMatchObject({
      problem: "its words",
      exitCode: code,
    });
  });

  it("is the last one", () => {
    expect(failure([over(true, "no"), text, over(false)], exit(1))).toBeUndefined();
    expect(failure([over(false), text, over(true, "no")], exit(0))).toBeInstanceOf(AgentFailedError);
  });

  it.each<AgentEvent>([text, { type: "turnStart" }])("no longer holds when it has continued: %o", (work) => {
    expect(failure([over(false), work], exit(1))).toBeInstanceOf(AgentFailedError);
    expect(failure([over(false), work], exit(0))).toBeInstanceOf(AgentFailedError);
    expect(failure([over(false), work], exit(0), SILENT_AGENT)).toBeUndefined();
    expect(failure([over(false), work, over(false)], exit(1))).toBeUndefined();
  });

  it("has words in any case", () => {
    expect(failure([trouble("other"), over(true, "")], exit(1))?.message).toContain("its other words");
    expect(failure([over(true)], exit(1))?.message).toContain("it reported an error");
  });
});

describe("an agent without a verdict", () => {
  it("has failed where it always gives one, also with exit code 0", () => {
    expect(failure([text], exit(0))).toMatchObject({
      problem: "it ended without reporting the end of its turn",
    });
  });

  it("has succeeded with exit code 0 where it never gives one", () => {
    expect(failure([text], exit(0), SILENT_AGENT)).toBeUndefined();
  });

  it("has failed with another exit code, and its last words are kept", () => {
    const error = failure([text], exit(3, "out of luck"), SILENT_AGENT);
    expect(error).toMatchObject({ problem: "it ended with exit code 3", exitCode: 3, stderr: "out of luck" });
    expect(error?.message).toContain("out of luck");
  });
});

describe("the type of an agent's failure", () => {
  const kinds: [AgentErrorKind, typeof AgentFailedError][] = [
    ["authentication", AgentAuthenticationError],
    ["overloaded", AgentOverloadedError],
    ["contextLength", AgentContextLengthError],
    ["other", AgentFailedError],
  ];

  it.each(kinds)("is that of its trouble, with its own words: %s", (kind, type) => {
    const error = failure([trouble(kind), over(true)], exit(1));
    expect(error?.constructor).toBe(type);
    expect(error).toMatchObject({ agent: "fake", problem: `its ${kind} words` });
  });

  it.each(kinds)("is that of its trouble when it just ends: %s", (kind, type) => {
    expect(failure([trouble(kind)], exit(1))?.constructor).toBe(type);
    expect(failure([trouble(kind)], exit(0))?.constructor).toBe(type);
  });

  it("says when a rate limit ends", () => {
    const retryAt = new Date("2026-11-16T08:00:00Z");
    const error = failure([trouble("rateLimit", { retryAt }), over(true, "slow down")], exit(1));
    expect(error).toBeInstanceOf(AgentRateLimitError);
    expect(error).toMatchObject({ problem: "slow down", retryAt });
  });

  it("is that of the last trouble", () => {
    const error = failure([trouble("overloaded", { willRetry: true }), trouble("authentication")], exit(1));
    expect(error).toBeInstanceOf(AgentAuthenticationError);
  });

  it.each<AgentEvent>([text, { type: "toolCall", name: "shell", input: {} }])(
    "is not that of trouble that it has got over, as %o shows",
    (sign) => {
      const error = failure(
        [trouble("rateLimit", { willRetry: true }), sign, over(true, "no more turns")],
        exit(1),
      );
      expect(error?.constructor).toBe(AgentFailedError);
    },
  );

  it("is no failure at all when it has got over its trouble", () => {
    expect(failure([trouble("overloaded", { willRetry: true }), text, over(false)], exit(0))).toBeUndefined();
  });
});

describe("a program that is not there", () => {
  it("is named, with how to install it", () => {
    const error = failure([], exit(127, "sh: 1: fake: not found"));
    expect(error).toBeInstanceOf(AgentNotFoundError);
    expect(error?.message).toContain('"fake"');
    expect(error?.message).toContain("RUN get fake");
  });

  it.each(["bubblewrap", "test-isolated"])(
    "is missed on the host where %s has the host's programs",
    (sandbox) => {
      const error = failure([], exit(127, "sh: 1: fake: not found"), AGENT, sandbox);
      expect(error?.message).toContain(
        `in the sandbox ${sandbox}. ${sandbox} uses the programs of this machine`,
      );
      expect(error?.message).toMatch(/^On this machine, as root or with your own Node.js:\n {2}get fake$/m);
      expect(error?.message).not.toMatch(/image|Dockerfile|RUN/);
    },
  );

  it.each<[string, AgentEvent[], AgentExit]>([
    ["an agent that has spoken", [text], exit(127, "sh: 1: helper: not found")],
    ["an agent that has ended its turn", [over(true, "no")], exit(127, "not found")],
    ["another last word", [], exit(127, "killed")],
    ["another exit code", [], exit(1, "Session not found")],
  ])("is not what is wrong with %s", (_, events, end) => {
    expect(failure(events, end)?.constructor).toBe(AgentFailedError);
  });
});

describe("an agent that has fallen silent", () => {
  const silence = new IdleTimeoutError("fake", 600);

  it("has failed because of that", () => {
    expect(verdictOn([text]).failureOfSilence(AGENT, silence)).toBe(silence);
    expect(verdictOn([trouble("rateLimit"), text]).failureOfSilence(AGENT, silence)).toBe(silence);
  });

  it("has failed because of the trouble that it had before", () => {
    const error = verdictOn([trouble("rateLimit", { willRetry: true })]).failureOfSilence(AGENT, silence);
    expect(error).toBeInstanceOf(AgentRateLimitError);
    expect(error.message).toContain("its rateLimit words");
    expect(error.message).toContain("600 s");
  });
});

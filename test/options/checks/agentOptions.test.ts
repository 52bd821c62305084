import { describe, it } from "vitest";
import { command } from "../../../src/agents/command/provider.ts";
import {
  agent,
  type Case,
  casesFor,
  checkWith,
  expectRefused,
  MAKERS,
  RUNS,
  SESSIONS,
  WITH_AGENT,
} from "./scenes.ts";

const listener = () => {};

const AGENTS: readonly Case[] = [
  ["no agent", WITH_AGENT, { agent: undefined }, "agent", /must be an agent provider/],
  ["an agent by its name", WITH_AGENT, { agent: "claude" }, "agent", /must be an agent provider/],
  [
    "env vars of an agent that are not text",
    WITH_AGENT,
    { agent: { ...agent, env: { A: 1 } } },
    "agent.env",
    /\bA\b/,
  ],
  [
    "an agent without a terminal interface",
    SESSIONS,
    { agent: command("true") },
    "agent",
    /no terminal interface/,
  ],
  ["no prompt", RUNS, { prompt: undefined }, "prompt", /pass the text as `prompt`/],
  ["a prompt that is no text", WITH_AGENT, { prompt: 7 }, "prompt", /string/],
  [
    "a prompt and a file",
    WITH_AGENT,
    { prompt: "a", promptFile: "b" },
    "promptFile",
    /`prompt` and `promptFile` exclude/,
  ],
  [
    "arguments without a file",
    WITH_AGENT,
    { prompt: "a", promptArgs: { A: 1 } },
    "promptArgs",
    /pass `promptFile`/,
  ],
  ["a prompt, where there is no agent", MAKERS, { prompt: "x" }, "prompt", /no such option/],
  ["no iterations", RUNS, { maxIterations: 0 }, "maxIterations", /1 or more/],
  ["iterations of a person's", SESSIONS, { maxIterations: 2 }, "maxIterations", /no such option/],
  ["a timeout below nothing", RUNS, { idleTimeoutSeconds: -1 }, "idleTimeoutSeconds", /above 0/],
  ["an empty completion signal", RUNS, { completionSignal: [""] }, "completionSignal", /non-empty/],
  ["an output without a tag", RUNS, { output: {} }, "output.tag", /must be a tag name/],
  ["an output of a person's", SESSIONS, { output: { tag: "a" } }, "output", /no such option/],
  [
    "an agent session to resume, because each run starts a new one",
    ["sandbox.run()"],
    { resumeSession: "1" },
    "resumeSession",
    /always starts a new agent session/,
  ],
  [
    "an agent session to resume",
    [...SESSIONS, ...MAKERS],
    { resumeSession: "1" },
    "resumeSession",
    /no such option/,
  ],
  [
    "a session to go on with of an agent that cannot",
    ["run()", "worktree.run()"],
    { resumeSession: "1" },
    "resumeSession",
    /cannot resume/,
  ],
];

const LOGGING: readonly Case[] = [
  [
    "logging without a type",
    [...RUNS, ...MAKERS],
    { logging: {} },
    "logging.type",
    /expected one of: file, stdout/,
  ],
  [
    "logging of another type",
    [...RUNS, ...MAKERS],
    { logging: { type: "tty" } },
    "logging.type",
    /file, stdout/,
  ],
  [
    "a listener, where there is no agent",
    MAKERS,
    { logging: { type: "file", onAgentStreamEvent: listener } },
    "logging.onAgentStreamEvent",
    /no such option/,
  ],
  [
    "logging, which the terminal is for",
    SESSIONS,
    { logging: { type: "file" } },
    "logging",
    /no such option/,
  ],
];

const ENVIRONMENTS: readonly Case[] = [
  [
    "tests to wait for, but no environment",
    ["run()", "worktree.run()"],
    { until: "tests-pass" },
    "until",
    /pass `environment`/,
  ],
  [
    "another end than that of the tests",
    ["run()", "worktree.run()"],
    { environment: "x", until: "done" },
    "until",
    /"tests-pass"/,
  ],
  [
    "an environment without its folder",
    ["run()", "createSandbox()"],
    { environment: {} },
    "environment",
    /needs the `path`/,
  ],
  [
    "another isolation of the tests",
    ["run()", "createSandbox()"],
    { environment: { path: "x", isolation: "none" } },
    "environment.isolation",
    /"shared" or "strict"/,
  ],
];

describe("the error says what is wrong, by the name of the option:", () => {
  it.each(casesFor([...AGENTS, ...LOGGING, ...ENVIRONMENTS]))(
    "%s refuses %s",
    (entryPoint, _, wrong, option, problem) => {
      expectRefused(() => checkWith(entryPoint, wrong), option, problem);
    },
  );
});

import { expect, it } from "vitest";
import { AgentFailedError, type AgentProvider, command, run } from "../../../src/index.ts";
import { testIsolated } from "../../../src/sandboxes/test-isolated.ts";
import { temporaryRepository } from "../../helpers/repository/repository.ts";

const CASES: readonly [problem: string, agent: Partial<Record<keyof AgentProvider, unknown>>][] = [
  ["buildCommand() returned undefined instead of an object", { buildCommand: () => undefined }],
  [
    "buildCommand() returned a wrong object: command must be a non-empty list of strings, or a command for sh; got undefined",
    { buildCommand: () => ({ argv: ["x"], stdin: "" }) },
  ],
  ["stdin must be a string; got undefined", { buildCommand: () => ({ command: "true" }) }],
  [
    "env must be an object whose values are strings",
    { buildCommand: () => ({ command: "true", stdin: "", env: { A: 1 } }) },
  ],
  ["createParser() returned undefined instead of a function", { createParser: () => undefined }],
  ["the parser returned undefined instead of a list of events", { createParser: () => () => undefined }],
  [
    "the parser returned an event without a known type; expected one of: text, toolCall",
    { createParser: () => () => [{ typ: "text" }] },
  ],
  [
    "the parser returned an event of type text: text must be a string; got undefined",
    { createParser: () => () => [{ type: "text" }] },
  ],
  [
    "the parser returned an event of type error: kind expected one of: authentication, rateLimit",
    { createParser: () => () => [{ type: "error", kind: "network", message: "x", willRetry: false }] },
  ],
  [
    "the parser returned an event of type result: isError must be true or false; got undefined",
    { createParser: () => () => [{ type: "result" }] },
  ],
];

it.each(CASES)("an agent provider is named with what is wrong: %s", async (problem, wrong) => {
  const agent = { ...command("echo hello"), name: "my-agent", ...wrong } as AgentProvider;
  const options = { agent, sandbox: testIsolated(), prompt: "x", cwd: temporaryRepository() };
  const error = await run(options).catch((reason) => reason);
  expect(error).toBeInstanceOf(AgentFailedError);
  expect((error as Error).message).toContain("my-agent");
  expect((error as Error).message).toContain(problem);
});

import { expect, it } from "vitest";
import { type AgentProvider, run } from "../../../src/index.ts";
import { testIsolated } from "../../../src/sandboxes/test-isolated.ts";
import { hang } from "../../helpers/agents/agentScripts.ts";
import { waitFor } from "../../helpers/processes/waiting.ts";
import { temporaryRepository } from "../../helpers/repository/repository.ts";
import { failureOf } from "../../security/support.ts";
import { ps } from "./hangingRuns.ts";

const USAGE = { inputTokens: 1000, cacheCreationInputTokens: 200, cacheReadInputTokens: 30, outputTokens: 4 };

/** Tells of what it has used, then works on. */
const counting = (line: string): AgentProvider => ({
  name: "counting",
  reportsUsage: "perCall",
  buildCommand: () => ({ command: `echo used; ${line}`, stdin: "" }),
  createParser: () => () => [{ type: "usage", usage: USAGE }],
});

it("sanddune ps shows the tokens of an iteration that lasts", async () => {
  const cwd = temporaryRepository();
  const { line } = hang();
  const stop = new AbortController();
  const running = failureOf(
    run({ agent: counting(line), sandbox: testIsolated(), cwd, prompt: "x", signal: stop.signal }),
  );
  await waitFor(async () => (await ps(cwd))[0]?.["tokens"] === 1234);
  expect(await ps(cwd)).toMatchObject([{ state: "running", iterations: 0, usage: USAGE }]);
  stop.abort();
  await running;
  expect(await ps(cwd)).toMatchObject([{ state: "aborted", iterations: 1, usage: USAGE }]);
});

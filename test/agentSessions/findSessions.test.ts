import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { changedSessions, findSessions } from "../../src/agentSessions/findSessions.ts";
import type { AgentProvider } from "../../src/agents/contract.ts";
import { claudeCode, codex, copilot, gemini, pi } from "../../src/index.ts";
import type { SandboxHandle } from "../../src/sandboxes/contract.ts";
import { testIsolated } from "../../src/sandboxes/test-isolated.ts";
import { newSandboxName } from "../sandboxes/openSandbox.ts";

let sandbox: SandboxHandle;
beforeAll(async () => {
  sandbox = await testIsolated().create({
    runId: "test-run",
    sandboxName: newSandboxName(),
    repositoryPath: "/nowhere",
  });
});
afterAll(() => sandbox?.close());

const write = async (file: string, text: string): Promise<void> => {
  const { exitCode } = await sandbox.exec(`mkdir -p "$HOME/$(dirname ${file})" && cat >> "$HOME/${file}"`, {
    stdin: text,
  });
  expect(exitCode).toBe(0);
};

const { signal } = new AbortController();
const find = ({ sessions }: AgentProvider) => {
  if (sessions === undefined) throw new Error("the agent has no sessions");
  return findSessions(sandbox, sessions, { cwd: sandbox.worktreePath, signal });
};

/** Where each agent keeps a session. */
const PLACES: Readonly<Record<string, readonly [AgentProvider, (id: string) => string]>> = {
  "claude code": [claudeCode("m"), (id) => `.claude/projects/-repo/${id}.jsonl`],
  codex: [codex("m"), (id) => `.codex/sessions/2026/11/18/rollout-2026-11-18T10-00-00-${id}.jsonl`],
  pi: [pi("p/m"), (id) => `.pi/agent/sessions/--repo--/2026-11-18T10-00-00_${id}.jsonl`],
  copilot: [copilot("m"), (id) => `.copilot/session-state/${id}/events.jsonl`],
  gemini: [gemini("m"), (id) => `.gemini/tmp/repo/chats/session-2026-11-18-${id.slice(0, 8)}.jsonl`],
};

describe.each(Object.entries(PLACES))("the sessions of %s in a sandbox", (_, [agent, fileOf]) => {
  it("are found without knowing their ids, and those that have not changed are left out", async () => {
    expect(await find(agent)).toEqual([]);
    const [one, two, three] = [randomUUID(), randomUUID(), randomUUID()];
    for (const id of [one, two]) await write(fileOf(id), `${JSON.stringify({ sessionId: id })}\n`);
    const before = await find(agent);
    expect(before.map(({ sessionId }) => sessionId).sort()).toEqual([one, two].sort());
    await write(fileOf(two), "{}\n");
    await write(fileOf(three), `${JSON.stringify({ sessionId: three })}\n`);
    const changed = changedSessions(before, await find(agent));
    expect(changed.map(({ sessionId }) => sessionId).sort()).toEqual([two, three].sort());
  });
});

it("the session of a subagent is not one of its own", async () => {
  const [parent, child] = [randomUUID(), randomUUID()];
  const [agent, fileOf] = PLACES["codex"] as (typeof PLACES)[string];
  const before = await find(agent);
  await write(fileOf(parent), `${JSON.stringify({ payload: { id: parent, session_id: parent } })}\n`);
  await write(fileOf(child), `${JSON.stringify({ payload: { id: child, session_id: parent } })}\n`);
  expect(changedSessions(before, await find(agent)).map(({ sessionId }) => sessionId)).toEqual([parent]);
});

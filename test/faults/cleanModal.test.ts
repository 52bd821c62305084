import { expect, it, onTestFinished, vi } from "vitest";
import { modal } from "../../src/sandboxes/modal.ts";
import { modalLeftovers } from "../../src/sandboxes/modalLeftovers.ts";
import { clean, hang, outcomesOf, ps } from "../cli/hangingRuns.ts";
import { runCli, startCli } from "../cli/startCli.ts";
import { leftovers } from "../helpers/leftovers.ts";
import { temporaryRepository } from "../helpers/repository.ts";
import { waitFor } from "../helpers/waiting.ts";
import { modalServer } from "../sandboxes/modalScene.ts";

/** A run at Modal that was killed while its agent was at work. */
const deadRun = async () => {
  const cwd = temporaryRepository();
  const { line, isThere } = hang();
  const { child, result } = startCli(
    [
      ...["run", "--agent-command", `cat >/dev/null; echo alone >alone.txt; ${line}`, "--prompt", "Work"],
      ...["--branch", "agent/work", "--sandbox", "modal"],
    ],
    { cwd },
  );
  onTestFinished(() => void child.kill("SIGKILL"));
  await waitFor(() => isThere() || child.exitCode !== null, 60_000);
  if (child.exitCode !== null) throw new Error(JSON.stringify(await result));
  child.kill("SIGKILL");
  await result;
  const [run] = await ps(cwd);
  return { cwd, runId: run?.runId ?? "", isAgentAlive: isThere };
};

it("a sandbox of a dead run stays at Modal until its run is named, and no other one goes", async () => {
  const server = await modalServer();
  const other = await deadRun();
  const { cwd, runId, isAgentAlive } = await deadRun();
  expect(server.running()).toHaveLength(2);
  const outcomes = await clean(cwd, "--yes");
  expect(outcomes.find(({ what }) => what === "sandbox")).toMatchObject({
    name: `modal sandbox ${server.sandboxes[1]?.id}`,
    outcome: "kept",
    goesIfNamed: true,
    runIds: [runId],
  });
  expect(outcomesOf(outcomes)).toContain("kept worktree");
  expect(isAgentAlive()).toBe(true);

  await clean(cwd, "--yes", "--run", runId);
  expect(server.running().map(({ id }) => id)).toEqual([server.sandboxes[0]?.id]);
  expect(isAgentAlive()).toBe(false);
  expect(other.isAgentAlive()).toBe(true);
  expect(leftovers(cwd)).toEqual([]);
});

it("what a dead run has left stays as it is while Modal cannot be asked", async () => {
  const server = await modalServer();
  const { cwd, runId, isAgentAlive } = await deadRun();
  const { stdout } = await runCli(["clean", "--yes", "--run", runId, "--json"], {
    cwd,
    env: { MODAL_TOKEN_ID: "" },
  });
  const outcomes = JSON.parse(stdout) as Awaited<ReturnType<typeof clean>>;
  expect(outcomes.find(({ what }) => what === "sandbox")).toMatchObject({
    outcome: "kept",
    keptBecause: expect.stringContaining("MODAL_TOKEN_ID"),
  });
  expect(outcomesOf(outcomes)).toContain("kept worktree");
  expect(server.running()).toHaveLength(1);
  expect(isAgentAlive()).toBe(true);
});

it("a sandbox that Modal has ended by itself is nothing to clean up", async () => {
  const server = await modalServer();
  const { cwd } = await deadRun();
  await server.end(server.running()[0] as never, "timed out");
  const outcomes = await clean(cwd, "--yes");
  expect(outcomes.filter(({ what }) => what === "sandbox")).toEqual([]);
});

it("a sandbox in another environment of Modal's is not taken for gone: its run stays, with what to set", async () => {
  const server = await modalServer();
  vi.stubEnv("MODAL_ENVIRONMENT", "prod");
  const { cwd, runId, isAgentAlive } = await deadRun();
  vi.stubEnv("MODAL_ENVIRONMENT", undefined);
  for (const flags of [["--yes"], ["--yes", "--run", runId]]) {
    const outcomes = await clean(cwd, ...flags);
    expect(outcomes.find(({ what }) => what === "sandbox")).toMatchObject({
      outcome: "kept",
      keptBecause: expect.stringContaining("set MODAL_ENVIRONMENT=prod"),
    });
    expect(outcomesOf(outcomes)).toContain("kept worktree");
  }
  expect(isAgentAlive()).toBe(true);

  vi.stubEnv("MODAL_ENVIRONMENT", "prod");
  await clean(cwd, "--yes", "--run", runId);
  expect(server.running()).toEqual([]);
  expect(leftovers(cwd)).toEqual([]);
});

it("a sandbox is found with another token of its account; what that one does not find may be elsewhere", async () => {
  const server = await modalServer();
  const { cwd } = await deadRun();
  const sandboxOf = async () => (await clean(cwd)).find(({ what }) => what === "sandbox");
  for (const [name, value] of Object.entries(server.otherToken)) vi.stubEnv(name, value);
  expect(await sandboxOf()).toMatchObject({ name: `modal sandbox ${server.sandboxes[0]?.id}` });

  await server.end(server.running()[0] as never, "timed out");
  expect(await sandboxOf()).toMatchObject({
    outcome: "kept",
    keptBecause: expect.stringContaining("another Modal account, or in another environment"),
  });
  for (const [name, value] of Object.entries(server.env)) vi.stubEnv(name, value);
  expect(await sandboxOf()).toBe(undefined);
});

it("a journal that names the app only is believed as before", async () => {
  const server = await modalServer();
  const [runId, sandboxName] = ["20260101-000000-abcdef", "sanddune-old"];
  const sandbox = await modal({ app: "builds" }).create({ runId, sandboxName, repositoryPath: "/" });
  const left = { runId, sandboxName, temporaryDirectory: "/tmp" };
  expect(await modalLeftovers.find({ ...left, place: "builds" })).toBe(
    `modal sandbox ${server.sandboxes[0]?.id}`,
  );
  expect(await modalLeftovers.find({ ...left, place: "other" })).toBe(undefined);
  expect(await modalLeftovers.find(left)).toBe(undefined);
  await expect(modalLeftovers.find({ ...left, place: '{"app":"builds"}' })).rejects.toThrow(
    "its journal does not say in which account the sandbox sanddune-old is",
  );
  await sandbox.close();
});

import { expect, it, vi } from "vitest";
import type { CleanOutcome } from "../../../src/runs/clean/cleanUp.ts";
import { modalLeftovers } from "../../../src/sandboxes/modal/leftovers.ts";
import { modal } from "../../../src/sandboxes/modal.ts";
import { runCli } from "../../cli/callCli.ts";
import { clean, outcomesOf } from "../../cli/runs/hangingRuns.ts";
import { leftovers } from "../../helpers/processes/leftovers.ts";
import { modalServer } from "../../sandboxes/modal/scene.ts";
import { deadCloudRuns } from "./deadCloudRuns.ts";

const FLAGS = ["--sandbox", "modal"];

it("leftovers of a dead run stay while Modal is unavailable, its sandbox until its run is named, and no other one is removed", async () => {
  const server = await modalServer();
  const { cwd, runOn } = await deadCloudRuns(["mine", "other"], FLAGS);
  const { runId, isAgentAlive } = runOn("mine");
  const expectKept = (outcomes: readonly CleanOutcome[], why: object) => {
    const ofRun = outcomes.filter(({ runIds }) => runIds.includes(runId));
    expect(ofRun.find(({ what }) => what === "sandbox")).toMatchObject({ outcome: "kept", ...why });
    expect(outcomesOf(ofRun)).toContain("kept worktree");
    expect(isAgentAlive()).toBe(true);
    expect(server.running()).toHaveLength(2);
  };
  const { stdout } = await runCli(["clean", "--yes", "--run", runId, "--json"], {
    cwd,
    env: { MODAL_TOKEN_ID: "" },
  });
  expectKept(JSON.parse(stdout), { keptBecause: expect.stringContaining("MODAL_TOKEN_ID") });
  expectKept(await clean(cwd, "--yes"), {
    name: expect.stringMatching(/^modal sandbox sb-/),
    goesIfNamed: true,
    runIds: [runId],
  });

  await clean(cwd, "--yes", "--run", runId);
  expect(server.running()).toHaveLength(1);
  expect(isAgentAlive()).toBe(false);
  expect(runOn("other").isAgentAlive()).toBe(true);
});

it("a sandbox that may be in another environment or account of Modal does not count as gone: its run stays, with the settings to change", async () => {
  const server = await modalServer();
  vi.stubEnv("MODAL_ENVIRONMENT", "prod");
  const { cwd, runOn } = await deadCloudRuns(["mine"], FLAGS);
  const { runId, isAgentAlive } = runOn("mine");
  const sandboxOf = async () => (await clean(cwd)).find(({ what }) => what === "sandbox");

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

  // Another token of the same account finds it; once it has ended, that one cannot tell, and its own can.
  vi.stubEnv("MODAL_ENVIRONMENT", "prod");
  for (const [name, value] of Object.entries(server.otherToken)) vi.stubEnv(name, value);
  expect(await sandboxOf()).toMatchObject({ name: `modal sandbox ${server.sandboxes[0]?.id}` });
  await server.end(server.running()[0] as never, "timed out");
  expect(await sandboxOf()).toMatchObject({
    outcome: "kept",
    keptBecause: expect.stringContaining("another Modal account, or in another environment"),
  });
  for (const [name, value] of Object.entries(server.env)) vi.stubEnv(name, value);
  expect(await sandboxOf()).toBe(undefined);
  await clean(cwd, "--yes", "--run", runId);
  expect(leftovers(cwd)).toEqual([]);
});

it("a journal that names only the app is still valid", async () => {
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
    "its journal does not name the account of the sandbox sanddune-old",
  );
  await sandbox.close();
});

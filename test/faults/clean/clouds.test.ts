import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { assert, describe, expect, it, onTestFinished, vi } from "vitest";
import { examinedProviders, examineRemote } from "../../../src/doctor/sandboxes.ts";
import type { Situation } from "../../../src/doctor/situation.ts";
import type { CleanOutcome } from "../../../src/runs/clean/cleanUp.ts";
import { runCli } from "../../cli/callCli.ts";
import { outcomesOf } from "../../cli/runs/hangingRuns.ts";
import { CLOUDS } from "../../helpers/cloud/clouds.ts";
import { startE2bServer } from "../../helpers/cloud/e2bServer.ts";
import type { Loopback } from "../../helpers/cloud/loopback.ts";
import { leftovers } from "../../helpers/processes/leftovers.ts";
import { temporaryDirectory, temporaryRepository } from "../../helpers/repository/repository.ts";
import { newSandboxName } from "../../sandboxes/openSandbox.ts";
import { deadCloudRuns } from "./deadCloudRuns.ts";

const TIMEOUT_MS = 180_000;

/** The SDK of Vercel has a fixed address: its own process gets another one. */
const route = pathToFileURL(join(import.meta.dirname, "../../helpers/cloud/vercelRoute.mjs"));
const env = { NODE_OPTIONS: `--import=${route}` };

const CREDENTIALS = { e2b: "E2B_API_KEY", vercel: "VERCEL_TOKEN" } as const;

/** Makes the present account another one, which knows nothing of any sandbox; gives what is to be in the environment. */
const ANOTHER_ACCOUNT = {
  e2b: async () => {
    const server = await startE2bServer();
    onTestFinished(() => server.close());
    return server.env;
  },
  vercel: async (loopback: Loopback) => {
    loopback.faults.push({ on: /^GET \/api\/v2\/sandboxes\/[^/]+$/, times: 100, status: 404 });
    onTestFinished(() => void loopback.faults.splice(0));
    return { VERCEL_PROJECT_ID: "prj_other" };
  },
};

const SAYS_WHICH = {
  e2b: "made with another E2B account; set the E2B_API_KEY of that one",
  vercel: "set VERCEL_TEAM_ID=team_loopback and VERCEL_PROJECT_ID=prj_loopback",
};

describe.each(CLOUDS)("the command line and $name", { timeout: TIMEOUT_MS }, (service) => {
  const { name, provider, use, requests } = service;
  const cloud = use();

  const flagsOf = {
    e2b: {
      flags: ["--image-name", "my-app"],
      asked: { templateID: "my-app", allow_internet_access: false },
    },
    vercel: {
      flags: ["--image-name", "acme/app:1", "--cpus", "4"],
      asked: { image: "acme/app:1", resources: { vcpus: 4 }, networkPolicy: { mode: "deny-all" } },
    },
  }[name];

  it("let doctor check that it answers, and create nothing", async () => {
    const { loopback } = cloud();
    const before = loopback.count(requests.create);
    const [provider] = examinedProviders.filter((known) => known.name === name);
    assert(provider !== undefined);
    const examine = () => examineRemote(provider, { cwd: temporaryDirectory() } as Situation, undefined);
    expect(await examine()).toMatchObject([{ detail: expect.stringContaining("answers") }]);
    const credential = process.env[CREDENTIALS[name]];
    vi.stubEnv(CREDENTIALS[name], "of-nobody");
    onTestFinished(() => void vi.stubEnv(CREDENTIALS[name], credential));
    expect(await examine()).toMatchObject([{ detail: expect.stringMatching(/(E2B|Vercel) refuses the/) }]);
    expect(loopback.count(requests.create)).toBe(before);
  });

  it("refuse flags and networks that it does not support", async () => {
    const cwd = temporaryRepository();
    const { loopback } = cloud();
    const before = loopback.log.length;
    for (const flags of [
      ["--mount", "/etc:/etc"],
      ["--network", "host"],
    ]) {
      const run = ["run", "--agent-command", "true", "--prompt", "Work", "--sandbox", name, ...flags];
      const { exitCode, stderr } = await runCli(run, { cwd });
      expect({ exitCode, stderr }).toEqual({
        exitCode: 2,
        stderr: expect.stringContaining(flags[0] as string),
      });
    }
    expect(loopback.log).toHaveLength(before);
  });

  it("run an agent with the given flags; leftovers of a killed run stay while the service or its account is unavailable, its sandbox until its run is named, and no other one is removed", async () => {
    const { loopback, count, lose, lastCreated } = cloud();
    const flags = ["--sandbox", name, "--network", "none", ...flagsOf.flags];
    const { cwd, runOn } = await deadCloudRuns(["mine", "other"], flags, env);
    const { runId, isAgentAlive } = runOn("mine");
    expect(lastCreated()).toMatchObject(flagsOf.asked);

    const clean = async (flags: readonly string[], more: Readonly<Record<string, string>> = {}) => {
      const { stdout } = await runCli(["clean", "--yes", "--json", ...flags], { cwd, env: more });
      return JSON.parse(stdout) as CleanOutcome[];
    };
    const expectKept = (outcomes: readonly CleanOutcome[], why: object) => {
      const ofRun = outcomes.filter(({ runIds }) => runIds.includes(runId));
      expect(ofRun.find(({ what }) => what === "sandbox")).toMatchObject({ outcome: "kept", ...why });
      expect(outcomesOf(ofRun)).toContain("kept worktree");
      expect(isAgentAlive()).toBe(true);
      expect(count()).toBe(2);
    };

    const named = ["--run", runId];
    expectKept(await clean(named, { [CREDENTIALS[name]]: "" }), {
      keptBecause: expect.stringContaining(CREDENTIALS[name]),
    });
    const account = await ANOTHER_ACCOUNT[name](loopback);
    expectKept(await clean(named, account), { keptBecause: expect.stringContaining(SAYS_WHICH[name]) });
    loopback.faults.splice(0);
    expectKept(await clean([]), {
      name: expect.stringContaining(`${name} sandbox `),
      goesIfNamed: true,
      runIds: [runId],
    });

    const ended = loopback.count(requests.end);
    await clean(named);
    expect(loopback.count(requests.end)).toBe(ended + 1);
    expect(isAgentAlive()).toBe(false);
    expect(runOn("other").isAgentAlive()).toBe(true);
    expect(count()).toBe(1);

    await lose();
    expect((await clean([])).filter(({ what }) => what === "sandbox")).toEqual([]);
    expect(leftovers(cwd)).toEqual([]);
  });

  it("note the account of a sandbox, but no secret", async () => {
    const places: string[] = [];
    const sandbox = await provider().create({
      runId: "test-run",
      sandboxName: newSandboxName(),
      repositoryPath: "/",
      onPlaced: (place) => {
        expect(cloud().count()).toBe(0);
        places.push(place);
      },
    });
    await sandbox.close();
    expect(places).toHaveLength(1);
    expect(places[0]).not.toContain(process.env[CREDENTIALS[name]]);
  });
});

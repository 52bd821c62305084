import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";
import { type clean, hang, outcomesOf, ps } from "../cli/hangingRuns.ts";
import { runCli, startCli } from "../cli/startCli.ts";
import { CLOUDS } from "../helpers/cloud/clouds.ts";
import { startE2bServer } from "../helpers/cloud/e2bServer.ts";
import type { Loopback } from "../helpers/cloud/loopback.ts";
import { leftovers } from "../helpers/leftovers.ts";
import { git, temporaryRepository } from "../helpers/repository.ts";
import { waitFor } from "../helpers/waiting.ts";
import { newSandboxName } from "../sandboxes/openSandbox.ts";

const TIMEOUT_MS = 180_000;

/** The SDK of Vercel has an address built in: a process of its own is told another one. */
const route = pathToFileURL(join(import.meta.dirname, "../helpers/cloud/vercelRoute.mjs"));
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

  /** A run that was killed while its agent was at work. */
  const deadRun = async () => {
    const cwd = temporaryRepository();
    const { line, isThere } = hang();
    const { child, result } = startCli(
      [
        ...["run", "--agent-command", `cat >/dev/null; echo alone >alone.txt; ${line}`, "--prompt", "Work"],
        ...["--branch", "agent/work", "--sandbox", name],
      ],
      { cwd, env },
    );
    onTestFinished(() => void child.kill("SIGKILL"));
    await waitFor(() => isThere() || child.exitCode !== null, 60_000);
    if (child.exitCode !== null) throw new Error(JSON.stringify(await result));
    child.kill("SIGKILL");
    await result;
    const [run] = await ps(cwd);
    return { cwd, runId: run?.runId ?? "", isAgentAlive: isThere };
  };

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

  it("run an agent, with what the flags say", async () => {
    const cwd = temporaryRepository();
    const agent = "cat >prompt.txt; git add .; git commit -qm Prompt";
    const { exitCode, stderr } = await runCli(
      [
        ...["run", "--agent-command", agent, "--prompt", "Work", "--branch", "agent/work", "--json"],
        ...["--sandbox", name, "--network", "none", ...flagsOf.flags],
      ],
      { cwd, env },
    );
    expect(exitCode, stderr).toBe(0);
    expect(git(cwd, "show", "agent/work:prompt.txt")).toBe("Work");
    expect(cloud().lastCreated()).toMatchObject(flagsOf.asked);
    expect(cloud().count()).toBe(0);
  });

  it("look, as a doctor, whether it answers, and make nothing", async () => {
    const { loopback } = cloud();
    const before = loopback.count(requests.create);
    const examine = async (more: Record<string, string> = {}) => {
      const doctor = ["doctor", "--sandbox", name, "--json"];
      return (await runCli(doctor, { cwd: temporaryRepository(), env: { ...env, ...more } })).stdout;
    };
    expect(await examine()).toContain("can be reached");
    expect(await examine({ [CREDENTIALS[name]]: "of-nobody" })).toMatch(/(E2B|Vercel) refuses the/);
    expect(loopback.count(requests.create)).toBe(before);
  });

  it("refuse flags that mean nothing to it, and a network that it does not know", async () => {
    const cwd = temporaryRepository();
    const { loopback } = cloud();
    const before = loopback.log.length;
    for (const flags of [
      ["--mount", "/etc:/etc"],
      ["--network", "host"],
    ]) {
      const run = ["run", "--agent-command", "true", "--prompt", "Work", "--sandbox", name, ...flags];
      const { exitCode, stderr } = await runCli(run, { cwd, env });
      expect({ exitCode, stderr }).toEqual({
        exitCode: 2,
        stderr: expect.stringContaining(flags[0] as string),
      });
    }
    expect(loopback.log).toHaveLength(before);
  });

  it("leave the sandbox of a dead run until its run is named, and then end no other one", async () => {
    const { loopback, count, lose } = cloud();
    const other = await deadRun();
    const { cwd, runId, isAgentAlive } = await deadRun();
    const kept = await runCli(["clean", "--yes", "--json"], { cwd, env });
    const outcomes = JSON.parse(kept.stdout) as Awaited<ReturnType<typeof clean>>;
    expect(outcomes.find(({ what }) => what === "sandbox")).toMatchObject({
      name: expect.stringContaining(`${name} sandbox `),
      outcome: "kept",
      goesIfNamed: true,
      runIds: [runId],
    });
    expect(isAgentAlive()).toBe(true);

    const ended = loopback.count(requests.end);
    await runCli(["clean", "--yes", "--run", runId], { cwd, env });
    expect(loopback.count(requests.end)).toBe(ended + 1);
    expect(isAgentAlive()).toBe(false);
    expect(leftovers(cwd)).toEqual([]);
    expect(other.isAgentAlive()).toBe(true);
    expect(count()).toBe(1);
    await lose();
  });

  it("leave everything as it is while the service cannot be asked", async () => {
    const { count, lose } = cloud();
    const { cwd, runId, isAgentAlive } = await deadRun();
    const { stdout } = await runCli(["clean", "--yes", "--run", runId, "--json"], {
      cwd,
      env: { ...env, [CREDENTIALS[name]]: "" },
    });
    const outcomes = JSON.parse(stdout) as Awaited<ReturnType<typeof clean>>;
    expect(outcomes.find(({ what }) => what === "sandbox")).toMatchObject({
      outcome: "kept",
      keptBecause: expect.stringContaining(CREDENTIALS[name]),
    });
    expect(outcomesOf(outcomes)).toContain("kept worktree");
    expect(isAgentAlive()).toBe(true);
    expect(count()).toBe(1);
    await lose();
  });

  it("leave everything as it is, and say which account to use, while the present one is another", async () => {
    const { loopback, count, lose } = cloud();
    const { cwd, runId } = await deadRun();
    const other = await ANOTHER_ACCOUNT[name](loopback);
    const { stdout } = await runCli(["clean", "--yes", "--run", runId, "--json"], {
      cwd,
      env: { ...env, ...other },
    });
    const outcomes = JSON.parse(stdout) as Awaited<ReturnType<typeof clean>>;
    expect(outcomes.find(({ what }) => what === "sandbox")).toMatchObject({
      outcome: "kept",
      keptBecause: expect.stringContaining(SAYS_WHICH[name]),
    });
    expect(outcomesOf(outcomes)).toContain("kept worktree");
    expect(count()).toBe(1);
    loopback.faults.splice(0);
    await lose();
    const settled = await runCli(["clean", "--yes", "--json"], { cwd, env });
    expect(settled.stdout).not.toContain('"sandbox"');
  });

  it("note which account a sandbox is in, and no secret", async () => {
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

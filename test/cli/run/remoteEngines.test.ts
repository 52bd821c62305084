import { describe, expect, it } from "vitest";
import { commits } from "../../helpers/agents/agentScripts.ts";
import { git, temporaryRepository } from "../../helpers/repository/repository.ts";
import { useTcpRelay } from "../../helpers/runtimes/remoteEngines.ts";
import { describeWith, TEST_IMAGE } from "../../helpers/runtimes/runtimes.ts";
import { containersOf } from "../../sandboxes/containers/containers.ts";
import { runCli } from "../callCli.ts";
import { clean, deadRun } from "../runs/hangingRuns.ts";

const RUN = ["run", "--agent-command", "true", "--prompt", "x", "--image-name", TEST_IMAGE];

describe("--host", () => {
  it.each(["-oProxyCommand=id", "ssh://-x", "ssh://me:secret@machine", "unix:///x.sock"])(
    "refuses %s, which is no address",
    async (host) => {
      const { exitCode, stderr } = await runCli([...RUN, "--sandbox", "docker", `--host=${host}`], {
        cwd: temporaryRepository(),
      });
      expect(exitCode).toBe(2);
      expect(stderr).toContain("Write ssh://user@machine or tcp://machine:port");
    },
  );

  it.each([["--mount", "/tmp:/there"], ["--selinux-label", "z"], ["--allow-unsafe-mounts"]])(
    "cannot go together with %s, nor with another sandbox",
    async (...flags) => {
      const cwd = temporaryRepository();
      const host = ["--host", "tcp://127.0.0.1:1"];
      for (const sandbox of ["docker", "podman"]) {
        const { exitCode, stderr } = await runCli([...RUN, "--sandbox", sandbox, ...host, ...flags], { cwd });
        expect(exitCode).toBe(2);
        expect(stderr).toMatch(
          new RegExp(`^error: ${flags[0]}: it is not possible together with --host: .*$`, "m"),
        );
      }
      const { exitCode, stderr } = await runCli(
        ["run", "--agent-command", "true", "--prompt", "x", "--sandbox", "bubblewrap", ...host],
        { cwd },
      );
      expect(exitCode).toBe(2);
      expect(stderr).toContain("--host does not apply to bubblewrap");
    },
  );
});

describeWith(["docker"], "sanddune on another machine's engine", () => {
  const relay = useTcpRelay();

  it("names the engine that does not answer", async () => {
    const { exitCode, stderr } = await runCli(
      [...RUN, "--sandbox", "docker", "--host", "tcp://127.0.0.1:1"],
      {
        cwd: temporaryRepository(),
      },
    );
    expect(exitCode).not.toBe(0);
    expect(stderr).toContain("the docker engine at tcp://127.0.0.1:1 does not answer");
  });

  it("runs an agent there, with the first engine that answers", async () => {
    const cwd = temporaryRepository();
    const { exitCode, stdout, stderr } = await runCli(
      [
        ...[
          "run",
          "--agent-command",
          `${commits("there")}; pwd`,
          "--prompt",
          "x",
          "--image-name",
          TEST_IMAGE,
        ],
        ...["--sandbox", "docker", "--host", "tcp://127.0.0.1:1", "--host", relay().address],
        ...["--branch", "b", "--json"],
      ],
      { cwd },
    );
    expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 });
    expect(JSON.parse(stdout).stdout).toBe("/sanddune/repo\n");
    expect(git(cwd, "log", "--format=%s", "main..b")).toBe("there");
  });

  it("finds, by the journal of a killed run, the container that it has left there, once the engine answers, and removes it", async () => {
    const run = await deadRun({ sandbox: "docker", flags: ["--branch", "b", "--host", relay().address] });
    const name = `sanddune-${run.runId}`;
    expect(containersOf("docker", run.runId)).toEqual([name]);
    const here = (outcomes: Awaited<ReturnType<typeof clean>>) =>
      outcomes.filter(({ what }) => what === "sandbox");
    relay().cut();
    try {
      expect(here(await clean(run.cwd, "--yes"))).toMatchObject([
        {
          outcome: "kept",
          keptBecause: expect.stringContaining(`the docker engine at ${relay().address} does not answer`),
        },
      ]);
    } finally {
      relay().mend();
    }
    const kept = here(await clean(run.cwd, "--yes"));
    expect(kept).toMatchObject([
      { outcome: "kept", name: `docker container ${name} at ${relay().address}`, goesIfNamed: true },
    ]);
    expect(here(await clean(run.cwd, "--yes", "--run", run.runId))).toMatchObject([{ outcome: "removed" }]);
    expect(containersOf("docker", run.runId)).toEqual([]);
  });
});

import { execFileSync } from "node:child_process";
import { afterEach, expect, it, vi } from "vitest";
import { createSandbox, run, scripted } from "../../../src/index.ts";
import { bubblewrap } from "../../../src/sandboxes/bubblewrap.ts";
import { docker } from "../../../src/sandboxes/docker.ts";
import { programCalls } from "../../helpers/processes/programCalls.ts";
import { gitCalls } from "../../helpers/repository/gitCalls.ts";
import { git, temporaryDirectory, temporaryRepository } from "../../helpers/repository/repository.ts";
import { describeWith, TEST_IMAGE } from "../../helpers/runtimes/runtimes.ts";

afterEach(() => {
  vi.unstubAllEnvs();
});

const agent = scripted([
  { commit: "Add a file", files: { "src/a.txt": "a\n" } },
  { commit: "Change it", files: { "src/a.txt": "b\n", "c.txt": "c\n" } },
]);

const BEFORE = ["rev-parse", "for-each-ref", "update-ref", "read-tree"];
/** The reader starts beside index-pack. */
const IMPORT = ["cat-file", "index-pack", "rev-list", "read-tree"];
const sorted = (names: readonly string[]) => [...names].sort();

describeWith(["bubblewrap"], "the git processes on the host", () => {
  it.each([
    ["branch", { type: "branch", branch: "agent/x" }, 10, ["status", "diff"]],
    ["merge-to-head", { type: "merge-to-head" }, 12, ["merge", "status", "diff"]],
  ] as const)("of a run with %s are few", async (_, branchStrategy, limit, after) => {
    const cwd = temporaryRepository();
    const calls = gitCalls();
    const { commits, warnings } = await run({
      agent,
      sandbox: bubblewrap(),
      cwd,
      branchStrategy,
      prompt: "Work",
    });
    expect(commits).toHaveLength(2);
    expect(warnings).toEqual([]);
    expect(sorted(calls.started())).toEqual(sorted([...BEFORE, ...IMPORT, ...after]));
    expect(calls.started().length).toBeLessThanOrEqual(limit);
    expect(calls.running()).toEqual([]);
    expect(git(cwd, "for-each-ref", "refs/sanddune")).toBe("");
  });

  it("of sandbox.run() are fewer, and none is left between two calls", async () => {
    const cwd = temporaryRepository();
    const calls = gitCalls();
    await using sandbox = await createSandbox({ branch: "agent/x", sandbox: bubblewrap(), cwd });
    expect(calls.running()).toEqual([]);
    const before = calls.started().length;
    const { commits } = await sandbox.run({ agent, prompt: "Work" });
    expect(commits).toHaveLength(2);
    expect(sorted(calls.started().slice(before))).toEqual(
      sorted(["for-each-ref", "update-ref", ...IMPORT, "diff"]),
    );
    expect(calls.running()).toEqual([]);
  });
});

const dockerRun = async () => {
  const calls = programCalls("docker");
  const { commits } = await run({
    agent,
    sandbox: docker({ imageName: TEST_IMAGE }),
    cwd: temporaryRepository(),
    branchStrategy: { type: "branch", branch: "agent/x" },
    prompt: "Work",
  });
  expect(commits).toHaveLength(2);
  return calls().map(({ args }) => args[0]);
};

describeWith(["docker"], "the docker processes of a run", () => {
  it("are one: the daemon itself is asked for the image, to run commands, and to remove the container", async () => {
    expect(await dockerRun()).toEqual(["run"]);
  });

  it("are four where only the client knows the daemon", async () => {
    const { DOCKER_HOST: host = "unix:///var/run/docker.sock" } = process.env;
    vi.stubEnv("DOCKER_CONFIG", temporaryDirectory());
    vi.stubEnv("DOCKER_HOST", undefined);
    execFileSync("docker", ["context", "create", "other", "--docker", `host=${host}`]);
    vi.stubEnv("DOCKER_CONTEXT", "other");
    expect(await dockerRun()).toEqual(["image", "run", "exec", "rm"]);
  });
});

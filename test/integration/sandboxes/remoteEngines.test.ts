import { randomBytes } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { worktreePathOf } from "../../../src/git/worktrees/worktrees.ts";
import {
  command,
  createSandbox,
  type RunOptions,
  run,
  SandboxLostError,
  scripted,
} from "../../../src/index.ts";
import { cleanUp } from "../../../src/runs/clean/cleanUp.ts";
import { findRepository } from "../../../src/runs/findRepository.ts";
import { findRun } from "../../../src/runs/findRun.ts";
import { listRuns } from "../../../src/runs/listRuns.ts";
import { rescueRun } from "../../../src/runs/recover/rescueRun.ts";
import type { IsolatedSandboxProvider } from "../../../src/sandboxes/contract.ts";
import { docker } from "../../../src/sandboxes/docker.ts";
import { podman } from "../../../src/sandboxes/podman.ts";
import { leftovers } from "../../helpers/processes/leftovers.ts";
import { git, temporaryRepository } from "../../helpers/repository/repository.ts";
import {
  dockerSocket,
  startPodmanService,
  useSshd,
  useTcpRelay,
} from "../../helpers/runtimes/remoteEngines.ts";
import { describeWith, TEST_IMAGE, TEST_USER_IMAGE } from "../../helpers/runtimes/runtimes.ts";
import { openTcpRelay } from "../../helpers/runtimes/tcpRelay.ts";
import { callClient } from "../../sandboxes/containers/containers.ts";
import { commit, expectSaneTerminal, startSession, subjects } from "../interactive/scenes.ts";

const agent = scripted([
  { shell: "cat README.md notes.txt" },
  { commit: "Add a greeting", files: { "src/hello.txt": "hello\n" } },
  { commit: "Improve it", files: { "src/hello.txt": "hello, world\n" } },
  { shell: "echo open > open.txt" },
  { text: "<promise>COMPLETE</promise>" },
]);

/** A run brings in what is there, and brings home what is made, committed or not. */
const checkRun = async (sandbox: IsolatedSandboxProvider, options: Pick<RunOptions, "hooks"> = {}) => {
  const cwd = temporaryRepository();
  git(cwd, "switch", "--quiet", "--create", "agent/fix");
  writeFileSync(join(cwd, "notes.txt"), "noted\n");
  git(cwd, "add", ".");
  git(cwd, "commit", "--quiet", "-m", "Note");
  git(cwd, "switch", "--quiet", "main");
  const result = await run({
    cwd,
    agent,
    sandbox,
    branchStrategy: { type: "branch", branch: "agent/fix" },
    prompt: "Add a greeting",
    ...options,
  });
  expect(git(cwd, "log", "--reverse", "--format=%s", "main..agent/fix")).toBe(
    "Note\nAdd a greeting\nImprove it",
  );
  expect(git(cwd, "show", "agent/fix:src/hello.txt")).toBe("hello, world");
  expect(git(cwd, "log", "-1", "--format=%an <%ae>", "agent/fix")).toBe("Dev <dev@example.com>");
  const kept = result.preservedWorktreePath ?? "";
  expect(readFileSync(join(kept, "open.txt"), "utf8")).toBe("open\n");
};

describeWith(["docker"], "run() on a Docker engine that is reached by tcp", () => {
  const relay = useTcpRelay();

  it("imports commits and files, as the image's user, after hooks that are root", async () => {
    const onSandboxReady = [
      { command: "echo made > /usr/local/made; chown 1000 /usr/local/made", sudo: true },
      { command: "grep made /usr/local/made && test $(id -u) = 1000" },
    ];
    const sandbox = docker({ imageName: TEST_USER_IMAGE, host: relay().address });
    await checkRun(sandbox, { hooks: { sandbox: { onSandboxReady } } });
  });

  it("has one sandbox for several runs, and leaves nothing behind", async () => {
    const cwd = temporaryRepository();
    const provider = docker({ imageName: TEST_USER_IMAGE, host: [relay().address] });
    const sandbox = await createSandbox({ cwd, branch: "agent/two", sandbox: provider });
    for (const name of ["one", "two"]) {
      const result = await sandbox.run({
        agent: command(`echo ${name} > ${name}; git add .; git commit -qm ${name}`),
        prompt: "x",
      });
      expect(result.commits).toHaveLength(1);
    }
    expect((await sandbox.exec("cat one two")).stdout).toBe("one\ntwo\n");
    await sandbox.close();
    expect(git(cwd, "log", "--format=%s", "main..agent/two")).toBe("two\none");
    expect(leftovers(cwd)).toEqual([]);
    expect(
      callClient("docker", "ps", "--all", "--quiet", "--filter", `label=sanddune.repository=${cwd}`),
    ).toBe("");
  });

  /** A run whose connection breaks for good while its agent works. */
  const loseRun = async (cwd: string, script: string): Promise<{ runId: string; warnings: string }> => {
    const attempt = run({
      ...{ cwd, agent: command(`${script}; echo all; sleep 100000`), prompt: "x" },
      sandbox: docker({ imageName: TEST_IMAGE, host: relay().address, leaseMs: 120_000 }),
      branchStrategy: { type: "branch", branch: "b" },
      logging: { type: "file", quiet: true, onAgentStreamEvent: () => relay().cut() },
    });
    const error = await attempt.then(
      () => expect.fail("it was to fail"),
      (reason: unknown) => reason,
    );
    expect(error).toBeInstanceOf(SandboxLostError);
    const { runId = "", warnings = [] } = error as SandboxLostError;
    return { runId, warnings: warnings.join("\n") };
  };

  const expectNoContainer = (cwd: string): void => {
    const filter = `label=sanddune.repository=${cwd}`;
    expect(callClient("docker", "ps", "--all", "--quiet", "--filter", filter)).toBe("");
  };

  it("is a lost sandbox when the connection breaks for good; its container stays until clean has imported what it holds", async () => {
    const cwd = temporaryRepository();
    const { runId, warnings } = await loseRun(
      cwd,
      "for i in 1 2 3; do git commit -q --allow-empty -m $i; done",
    );
    expect(warnings).toContain(`sanddune-${runId} was not closed`);
    expect(warnings).toContain(`sanddune rescue ${runId}`);
    const options = { remove: true, runs: [runId], branches: [], records: false };
    const clean = async () =>
      (await cleanUp(await findRepository(cwd), options)).find(({ what }) => what === "sandbox");
    expect(await clean()).toMatchObject({ outcome: "kept" });
    relay().mend();
    expect(await clean()).toEqual(expect.objectContaining({ outcome: "removed" }));
    expect(git(cwd, "log", "--format=%s", "main..b")).toBe("3\n2\n1");
    expectNoContainer(cwd);
    expect(leftovers(cwd)).toEqual([]);
  });

  it("is rescued with its commits, and what it had not committed, as soon as it can be reached", async () => {
    const cwd = temporaryRepository();
    const { runId } = await loseRun(cwd, "echo one > one; git add .; git commit -qm One; echo half > half");
    const repository = await findRepository(cwd);
    const rescue = async () => {
      const runs = listRuns(repository);
      return rescueRun(repository, runs, findRun(runs, runId));
    };
    const { kept } = await rescue();
    expect(kept).toContain("may exist only in");
    relay().mend();
    const { told, kept: left } = await rescue();
    expect(told.join("\n")).toContain(`Imported the commits of run ${runId}`);
    expect(left).toBeUndefined();
    const worktree = worktreePathOf(repository, "b");
    expect(git(worktree, "log", "--format=%s", "main..b")).toBe("One");
    expect(git(worktree, "status", "--porcelain")).toBe("?? half");
    expect(readFileSync(join(worktree, "half"), "utf8")).toBe("half\n");
    expectNoContainer(cwd);
  });
});

describeWith(["docker", "sshd"], "run() on a Docker engine that is reached by ssh", () => {
  const sshd = useSshd();

  it("imports commits and files, with a single login", async () => {
    const before = sshd().logins();
    await checkRun(docker({ imageName: TEST_IMAGE, host: `${sshd().address}${dockerSocket()}` }));
    expect(sshd().logins() - before).toBe(1);
  });
});

describeWith(["podman", "sshd"], "run() on a Podman engine of another machine", () => {
  const sshd = useSshd();
  let service: Awaited<ReturnType<typeof startPodmanService>>;
  beforeAll(async () => {
    service = await startPodmanService();
  });
  afterAll(() => service.stop());

  it("imports commits and files, as the image's user", async () => {
    await checkRun(podman({ imageName: TEST_USER_IMAGE, host: `${sshd().address}${service.socketPath}` }));
  });

  it("merges into the current branch by default, over tcp, too, beside sandboxes of this process and of others", async () => {
    const relay = await openTcpRelay(service.socketPath);
    const name = `sanddune-test-${randomBytes(6).toString("hex")}`;
    const labels = ["--label", "sanddune.run=theirs", "--label", "sanddune.owner=elsewhere:1"];
    callClient("podman", "run", "--detach", "--name", name, ...labels, TEST_IMAGE, "sleep", "1000");
    try {
      const provider = podman({ imageName: TEST_IMAGE, host: relay.address });
      await using _ = await createSandbox({ cwd: temporaryRepository(), branch: "b", sandbox: provider });
      const cwd = temporaryRepository();
      const greeting = command("echo hello > hello.txt; git add .; git commit -qm Greet");
      const result = await run({ cwd, agent: greeting, sandbox: provider, prompt: "x" });
      expect(result.branch).toBe("main");
      expect(readFileSync(join(cwd, "hello.txt"), "utf8")).toBe("hello\n");
      expect(leftovers(cwd)).toEqual([]);
    } finally {
      callClient("podman", "rm", "--force", "--time", "0", name);
      await relay.close();
    }
  });
});

describeWith(["docker", "sshd", "tmux"], "an interactive session on another machine", () => {
  const sshd = useSshd();

  it("has a terminal of the sandbox's own, and its commits are imported", async () => {
    const env = { SANDDUNE_TEST_HOST: `${sshd().address}${dockerSocket()}`, PATH: process.env["PATH"] ?? "" };
    const scene = await startSession("docker", {}, { env });
    await scene.terminal.shows("in /sanddune/repo");
    scene.terminal.resize(100, 30);
    await scene.terminal.shows("size 30 100");
    scene.terminal.resize(200, 40);
    await scene.terminal.shows("size 40 200");
    await commit(scene, "First");
    scene.terminal.type("q");
    const { value } = await scene.outcome();
    expect(value).toMatchObject({ exitCode: 0, branch: "main" });
    expect(subjects(scene.cwd, "HEAD~1..")).toEqual(["First"]);
    await expectSaneTerminal(scene);
  });
});

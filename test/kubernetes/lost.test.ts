import { expect, it, onTestFinished } from "vitest";
import { SandboxError, SandboxLostError } from "../../src/errors.ts";
import { command, run } from "../../src/index.ts";
import type { IsolatedSandboxHandle } from "../../src/sandboxes/contract.ts";
import { kubernetes } from "../../src/sandboxes/kubernetes.ts";
import { waitFor } from "../helpers/processes/waiting.ts";
import { git, temporaryRepository } from "../helpers/repository/repository.ts";
import { newSandboxName } from "../sandboxes/openSandbox.ts";
import {
  cluster,
  describeWithCluster,
  failureOf,
  IMAGE,
  kubectl,
  nodeOf,
  onNode,
  openPod,
  podExists,
  restoreNode,
} from "./cluster.ts";

/** A command that has printed something, and goes on for ever; and what becomes of it. */
const startHanging = async (sandbox: IsolatedSandboxHandle): Promise<{ readonly end: Promise<unknown> }> => {
  let hasBegun = false;
  const onLine = () => {
    hasBegun = true;
  };
  const end = failureOf(sandbox.exec("echo running; sleep 100000", { onLine }));
  await waitFor(() => hasBegun);
  return { end };
};

const problemOf = (error: unknown): string => {
  expect(error).toBeInstanceOf(SandboxLostError);
  return (error as SandboxLostError).problem;
};

describeWithCluster("a sandbox is lost when", () => {
  it("the daemons of its node die, though kubectl then says that all is well", async () => {
    restoreNode(1);
    const sandbox = await openPod(onNode(1));
    const { end } = await startHanging(sandbox);
    await cluster("kill-node", "1");
    expect(problemOf(await end)).toMatch(/node1/);
    expect(problemOf(await failureOf(sandbox.exec("true")))).toMatch(/node1/);
    await sandbox.close();
    expect(await podExists(sandbox.name)).toBe(false);
  });

  it("the power of its node is cut, after which kubectl hangs", { timeout: 300_000 }, async () => {
    restoreNode(2);
    const sandbox = await openPod(onNode(2));
    const other = await openPod(onNode(1));
    const { end } = await startHanging(sandbox);
    await cluster("kill-node", "2", "--machine");
    expect(problemOf(await end)).toMatch(/node2|does not answer/);
    expect(await failureOf(sandbox.exec("true"))).toBeInstanceOf(SandboxLostError);
    await sandbox.close();
    expect(await podExists(sandbox.name)).toBe(false);
    expect((await other.exec("echo still here")).stdout).toBe("still here\n");
  });

  it("its node dies before it has started", async () => {
    restoreNode(1);
    await cluster("kill-node", "1");
    const sandboxName = newSandboxName();
    const error = await failureOf(openPod(onNode(1), { sandboxName }));
    expect(problemOf(error)).toMatch(/node1 is not ready/);
    expect(await podExists(sandboxName)).toBe(false);
  });

  it("its pod is deleted", async () => {
    const sandbox = await openPod();
    const { end } = await startHanging(sandbox);
    await kubectl("delete", "pod", sandbox.name);
    expect(problemOf(await end)).toMatch(/no longer exists/);
    expect(problemOf(await failureOf(sandbox.exec("true")))).toMatch(/no longer exists/);
  });

  it("its programs are deleted", async () => {
    const sandbox = await openPod();
    await sandbox.exec("rm -rf /bin /usr/bin");
    expect(await failureOf(sandbox.exec("true"))).toBeInstanceOf(SandboxLostError);
  });

  it("its memory is used up, which is not the command's failure", async () => {
    const sandbox = await openPod({ resources: { limits: { memory: "64Mi" } } });
    const error = await failureOf(sandbox.exec("tail /dev/zero"));
    expect(problemOf(error)).toMatch(/memory of 64Mi was used up|ran out of memory/);
  });

  it("its lifetime is over", async () => {
    const sandbox = await openPod({ lifetimeMs: 10_000 });
    const phase = () => kubectl("get", "pod", sandbox.name, "--output", "jsonpath={.status.phase}");
    await waitFor(async () => (await phase()) === "Failed", 60_000);
    expect(problemOf(await failureOf(sandbox.exec("true")))).toMatch(/lifetime is over/);
  });
});

describeWithCluster("sandboxes that are made after one was lost with its node", () => {
  it("are put on the other node, although the cluster has not noticed yet", async () => {
    restoreNode(1);
    const { end } = await startHanging(await openPod(onNode(1)));
    await cluster("kill-node", "1");
    await end;
    const next = await Promise.all([1, 2, 3, 4].map(() => openPod()));
    expect(await Promise.all(next.map(({ name }) => nodeOf(name)))).toEqual(next.map(() => "node2"));
  });
});

describeWithCluster("a command in a sandbox", () => {
  it("is ended in time before its sandbox's lifetime is over, while its work can be imported", async () => {
    const sandbox = await openPod({ lifetimeMs: 30_000 });
    const error = await failureOf(sandbox.exec("echo work >file; sleep 100000"));
    expect(error).toBeInstanceOf(SandboxError);
    expect(String(error)).toMatch(/lifetime of 30 seconds is nearly over.*lifetimeMs/s);
    expect((await sandbox.exec("cat file")).stdout).toBe("work\n");
  });

  it("that is killed in it has failed, and nothing is lost", async () => {
    const sandbox = await openPod();
    expect((await sandbox.exec("kill -9 $$")).exitCode).toBe(137);
    expect((await sandbox.exec("kill -9 -1")).exitCode).toBe(137);
    expect((await sandbox.exec("echo on")).stdout).toBe("on\n");
  });
});

describeWithCluster("a run whose node dies", () => {
  it("says that the sandbox was lost, and keeps the commits of the iterations before", async () => {
    restoreNode(1);
    const cwd = temporaryRepository();
    const attempt = run({
      agent: command(
        "[ ! -e first ] || { echo waiting; sleep 100000; }; touch first; git add .; git commit -qm First",
      ),
      sandbox: kubernetes({ imageName: IMAGE, ...onNode(1) }),
      branchStrategy: { type: "branch", branch: "agent/lost" },
      maxIterations: 2,
      prompt: "Work",
      cwd,
      logging: {
        type: "file",
        onAgentStreamEvent: ({ type }) => {
          if (type === "text") void cluster("kill-node", "1");
        },
      },
    });
    const error = await failureOf(attempt);
    expect(error).toBeInstanceOf(SandboxLostError);
    const { commits, runId } = error as SandboxLostError;
    // It goes on where nobody can reach it.
    onTestFinished(async () => void (await kubectl("delete", "pod", `sanddune-${runId}`, "--wait=false")));
    expect(commits).toHaveLength(1);
    expect(git(cwd, "log", "--format=%s", "main..agent/lost")).toBe("First");
  });
});

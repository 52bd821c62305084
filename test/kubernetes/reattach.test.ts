import { execFileSync } from "node:child_process";
import { setTimeout as delay } from "node:timers/promises";
import { expect, it, onTestFinished } from "vitest";
import { SandboxLostError } from "../../src/errors.ts";
import { command, run } from "../../src/index.ts";
import { cleanUp } from "../../src/runs/clean/cleanUp.ts";
import { findRepository } from "../../src/runs/findRepository.ts";
import { kubernetes } from "../../src/sandboxes/kubernetes.ts";
import { leftovers } from "../helpers/processes/leftovers.ts";
import { waitFor } from "../helpers/processes/waiting.ts";
import { git, temporaryRepository } from "../helpers/repository/repository.ts";
import {
  cluster,
  describeWithCluster,
  failureOf,
  IMAGE,
  onNode,
  openPod,
  podExists,
  restoreNode,
} from "./cluster.ts";

/** The API server is there again after the test. */
const restoreApi = (): void => {
  onTestFinished(async () => void (await cluster("start-api")), 120_000);
};

/** Stops the API server for a moment: every connection to a pod breaks, and no other can be made. */
const interruptApi = async (): Promise<void> => {
  await cluster("kill-api");
  await delay(3000);
  await cluster("start-api");
};

/** Kills the clients of this process that run commands, as a network that breaks does. */
const killClients = (pod: string): number => {
  const found = execFileSync("pgrep", ["--parent", String(process.pid), "--full", `exec .*${pod}`], {
    encoding: "utf8",
  });
  const pids = found.split("\n").filter((line) => line !== "");
  for (const pid of pids) process.kill(Number(pid), "SIGKILL");
  return pids.length;
};

const COUNT = "i=0; while [ $i -lt 80 ]; do i=$((i + 1)); echo $i; echo e$i >&2; sleep 0.1; done; exit 3";
const numbers = Array.from({ length: 80 }, (_, index) => index + 1);

describeWithCluster("a command whose connection breaks", () => {
  it("continues in its pod, and nothing of its output or its exit code is lost while the API server is away", async () => {
    restoreApi();
    const sandbox = await openPod();
    const lines: string[] = [];
    const errors: string[] = [];
    const running = sandbox.exec(COUNT, {
      onLine: (line) => lines.push(line),
      onStderrLine: (line) => errors.push(line),
    });
    await waitFor(() => lines.length > 5);
    await interruptApi();
    expect((await running).exitCode).toBe(3);
    expect(lines).toEqual(numbers.map(String));
    expect(errors).toEqual(numbers.map((number) => `e${number}`));
  });

  it("continues when its clients are killed again and again, with bytes of any kind", async () => {
    const sandbox = await openPod();
    let bytes = 0;
    const running = sandbox.exec(
      "i=0; while [ $i -lt 40 ]; do i=$((i + 1)); head -c 300000 /dev/zero; sleep 0.1; done; echo; echo end",
      {
        onActivity: () => bytes++,
        captureBytes: 100,
        onLine: (line) => lengths.push(line.length),
      },
    );
    const lengths: number[] = [];
    for (let kills = 0; kills < 3; kills++) {
      const before = bytes;
      await waitFor(() => bytes > before + 3);
      expect(killClients(sandbox.name)).toBeGreaterThan(0);
    }
    expect((await running).exitCode).toBe(0);
    expect(lengths.at(-1)).toBe(3);
    expect(lengths.slice(0, -1).reduce((sum, length) => sum + length)).toBe(40 * 300_000);
  });

  it("gets the rest of its input", async () => {
    const sandbox = await openPod();
    const lines: string[] = [];
    const input = async function* () {
      yield Buffer.from("one\n");
      await waitFor(() => lines.includes("one"));
      killClients(sandbox.name);
      yield Buffer.from("two\n");
      await waitFor(() => lines.includes("two"));
      killClients(sandbox.name);
    };
    const { exitCode } = await sandbox.exec("cat; echo end", {
      stdin: input(),
      onLine: (line) => lines.push(line),
    });
    expect({ exitCode, lines }).toEqual({ exitCode: 0, lines: ["one", "two", "end"] });
  });

  it("can be aborted while there is no connection, and is gone when there is one again", async () => {
    restoreApi();
    const sandbox = await openPod();
    const controller = new AbortController();
    let hasBegun = false;
    const running = sandbox.exec("echo here; sleep 31415", {
      signal: controller.signal,
      onLine: () => {
        hasBegun = true;
      },
    });
    await waitFor(() => hasBegun);
    await cluster("kill-api");
    const reason = new Error("enough");
    controller.abort(reason);
    await expect(running).rejects.toBe(reason);
    await cluster("start-api");
    const processes = async () => (await sandbox.exec("cat /proc/[0-9]*/cmdline")).stdout;
    await waitFor(async () => !(await processes()).includes("31415"), 60_000);
  });
});

describeWithCluster("a run during which the API server is away for a moment", () => {
  it("succeeds with all its commits", async () => {
    restoreApi();
    const cwd = temporaryRepository();
    let interrupted: Promise<void> | undefined;
    const result = await run({
      agent: command(
        "for i in 1 2 3 4 5 6 7 8; do git commit -q --allow-empty -m $i; echo $i; sleep 1.5; done",
      ),
      sandbox: kubernetes({ imageName: IMAGE }),
      branchStrategy: { type: "branch", branch: "agent/work" },
      prompt: "Work",
      cwd,
      logging: {
        ...{ type: "file", quiet: true },
        onAgentStreamEvent: ({ type }) => {
          if (type === "text") interrupted ??= interruptApi();
        },
      },
    });
    await interrupted;
    expect(result.commits).toHaveLength(8);
    expect(result.stdout).toBe("1\n2\n3\n4\n5\n6\n7\n8\n");
    expect(git(cwd, "log", "-1", "--format=%s", "agent/work")).toBe("8");
    expect(leftovers(cwd)).toEqual([]);
  });
});

const clean = async (cwd: string, runs: readonly string[]) =>
  cleanUp(await findRepository(cwd), { remove: true, runs, branches: [], records: false });

describeWithCluster("a run whose node does not come back in time", () => {
  it("leaves its pod alone, and clean imports what it holds before the pod goes", async () => {
    restoreNode(1);
    const cwd = temporaryRepository();
    const agent = command(
      "for i in 1 2 3 4 5 6 7 8; do git commit -q --allow-empty -m $i; done; echo all; sleep 100000",
    );
    const error = await failureOf(
      run({
        ...{ agent, sandbox: kubernetes({ imageName: IMAGE, ...onNode(1) }), prompt: "Work", cwd },
        branchStrategy: { type: "branch", branch: "agent/work" },
        logging: {
          ...{ type: "file", quiet: true },
          onAgentStreamEvent: ({ type }) => {
            if (type === "text") void cluster("kill-node", "1");
          },
        },
      }),
    );
    expect(error).toBeInstanceOf(SandboxLostError);
    const { runId = "", warnings = [] } = error as SandboxLostError;
    const pod = `sanddune-${runId}`;
    expect(warnings.join("\n")).toContain(`The sandbox ${pod} was not closed`);
    expect((await clean(cwd, [])).map(({ what, outcome }) => [what, outcome])).toContainEqual([
      "sandbox",
      "kept",
    ]);
    const refused = (await clean(cwd, [runId])).find(({ what }) => what === "sandbox");
    expect(refused).toMatchObject({ outcome: "failed", problem: expect.stringMatching(/node1/) });
    expect(await podExists(pod)).toBe(true);

    await cluster("start-node", "1");
    const outcomes = await clean(cwd, [runId]);
    expect(outcomes.find(({ what }) => what === "sandbox")).toMatchObject({ outcome: "removed" });
    expect(await podExists(pod)).toBe(false);
    expect(git(cwd, "log", "--format=%s", "main..agent/work").split("\n")).toHaveLength(8);
    expect(leftovers(cwd)).toEqual([]);
  });
});

import type { Socket } from "node:net";
import { afterEach, expect, test, vi } from "vitest";
import { SandboxLostError } from "../../../../src/errors.ts";
import { docker } from "../../../../src/sandboxes/docker.ts";
import { programCalls } from "../../../helpers/processes/programCalls.ts";
import { waitFor } from "../../../helpers/processes/waiting.ts";
import { describeWith, TEST_IMAGE } from "../../../helpers/runtimes/runtimes.ts";
import { type OpenBindMount, openBindMount } from "../../openSandbox.ts";
import { refuse, useDaemonBehind } from "../daemonBehind.ts";

afterEach(() => {
  vi.unstubAllEnvs();
});

const withContainer = async (use: (opened: OpenBindMount["sandbox"]) => Promise<void>): Promise<void> => {
  const { sandbox } = await openBindMount(docker({ imageName: TEST_IMAGE }));
  try {
    await use(sandbox);
  } finally {
    await sandbox.close();
  }
};

const clientCalls = (calls: ReturnType<typeof programCalls>) => calls().map(({ args }) => args[0]);

describeWith(["docker"], "a command in a docker container", () => {
  test("is run by the daemon itself, with its input, both outputs and its exit code", () =>
    withContainer(async (sandbox) => {
      const calls = programCalls("docker");
      const input = "x".repeat(300_000);
      const script = "cat | wc -c; echo complaint >&2; exit 7";
      expect(await sandbox.exec(script, { stdin: input })).toEqual({
        stdout: "300000\n",
        stderr: "complaint\n",
        exitCode: 7,
      });
      expect(calls()).toEqual([]);
    }));

  test("is run by the client if the daemon refuses it", () =>
    withContainer(async (sandbox) => {
      let refusals = 0;
      await useDaemonBehind((question, connection) => {
        if (!question.endsWith("/exec?") || refusals > 0) return false;
        refusals++;
        refuse(connection, 500, "not now");
        return true;
      });
      const calls = programCalls("docker");
      expect(await sandbox.exec("cat", { stdin: "in" })).toMatchObject({ stdout: "in", exitCode: 0 });
      expect(refusals).toBe(1);
      expect(clientCalls(calls)).toEqual(["exec"]);
    }));

  test("that the daemon has created and does not start is a lost sandbox, with the daemon's reason", () =>
    withContainer(async (sandbox) => {
      await useDaemonBehind((question, connection) => {
        if (!question.includes("/start")) return false;
        refuse(connection, 409, "it is paused");
        return true;
      });
      const calls = programCalls("docker");
      const error = await sandbox.exec("echo ran").catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(SandboxLostError);
      expect((error as SandboxLostError).diagnostics).toContain("it is paused");
      expect(clientCalls(calls)).not.toContain("exec");
    }));

  test("that is killed without an exit marker has not succeeded, whatever the daemon answers then", () =>
    withContainer(async (sandbox) => {
      const kill = "kill -9 $PPID";
      expect((await sandbox.exec(kill)).exitCode).toBe(137);
      await useDaemonBehind((question, connection) => {
        if (!/GET .*\/json/.test(question)) return false;
        refuse(connection, 500, "not now");
        return true;
      });
      const error = await sandbox.exec(kill).catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(SandboxLostError);
    }));

  test.each(["/exec?", "/start?"])(
    "ends with its abort if the daemon never answers to %s, and leaves no connection",
    (path) =>
      withContainer(async (sandbox) => {
        const asked = new Set<Socket>();
        await useDaemonBehind((question, connection) => {
          if (!question.startsWith("POST") || !question.endsWith(path) || asked.size > 0) return false;
          asked.add(connection);
          return true;
        });
        const controller = new AbortController();
        const running = sandbox
          .exec("true", { signal: controller.signal })
          .catch((reason: unknown) => reason);
        await waitFor(() => asked.size > 0);
        controller.abort("enough");
        expect(await running).toBe("enough");
        await waitFor(() => [...asked].every(({ closed, readableEnded }) => closed || readableEnded));
      }),
  );

  test("whose connection breaks is a lost sandbox, and it is killed", () =>
    withContainer(async (sandbox) => {
      const { breakConnections } = await useDaemonBehind();
      const heard: string[] = [];
      const running = sandbox
        .exec("echo begun; exec sleep 1000", { onLine: (line) => heard.push(line) })
        .catch((reason: unknown) => reason);
      await waitFor(() => heard.length > 0);
      breakConnections(/start/);
      const error = await running;
      expect(error).toBeInstanceOf(SandboxLostError);
      expect((error as SandboxLostError).message).toContain("the connection to a running command broke");
      expect((await sandbox.exec("pgrep -f '^sleep 1000' || echo none")).stdout).toBe("none\n");
    }));
});

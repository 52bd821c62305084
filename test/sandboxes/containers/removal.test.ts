import { afterEach, expect, test, vi } from "vitest";
import { SandboxError } from "../../../src/errors.ts";
import { dockerEngine } from "../../../src/sandboxes/containers/dockerEngine.ts";
import { removeContainer } from "../../../src/sandboxes/containers/startContainer.ts";
import { docker } from "../../../src/sandboxes/docker.ts";
import { remoteEngine } from "../../../src/sandboxes/remote/remoteEngine.ts";
import { parseRemoteHost, type RemoteHost } from "../../../src/sandboxes/remote/remoteHost.ts";
import { programCalls } from "../../helpers/processes/programCalls.ts";
import { describeWith, TEST_IMAGE } from "../../helpers/runtimes/runtimes.ts";
import { newSandboxName, openBindMount } from "../openSandbox.ts";
import { callClient, inspectContainer } from "./containers.ts";
import { refuse, useDaemonBehind } from "./daemonBehind.ts";

afterEach(() => {
  vi.unstubAllEnvs();
});

const newContainer = (): string => {
  const name = newSandboxName();
  callClient("docker", "run", "--detach", "--name", name, TEST_IMAGE, "sleep", "600");
  return name;
};

const exists = (name: string): boolean => {
  vi.unstubAllEnvs();
  return callClient("docker", "ps", "--all", "--quiet", "--filter", `name=${name}`) !== "";
};

describeWith(["docker"], "the removal of a docker container", () => {
  test("removes the volumes that were made for it", async () => {
    const sandbox = docker({ imageName: TEST_IMAGE, extraArgs: ["--volume", "/anonymous"] });
    const { sandbox: opened } = await openBindMount(sandbox);
    const mounts = inspectContainer("docker", opened.name)["Mounts"] as unknown as { Name?: string }[];
    const volumes = mounts.flatMap(({ Name }) => Name ?? []);
    expect(volumes).toHaveLength(1);
    await opened.close();
    expect(callClient("docker", "volume", "ls", "--quiet").split("\n")).not.toContain(volumes[0]);
  });

  test("is the client's if the daemon refuses it", async () => {
    let refusals = 0;
    const name = newContainer();
    await useDaemonBehind((question, connection) => {
      if (!question.startsWith("DELETE") || refusals > 0) return false;
      refusals++;
      refuse(connection, 500, "not now");
      return true;
    });
    const calls = programCalls("docker");
    await removeContainer(dockerEngine, name);
    expect(refusals).toBe(1);
    expect(calls().map(({ args }) => args[0])).toEqual(["rm"]);
    expect(exists(name)).toBe(false);
  });

  test("is the client's if the daemon ends the connection", async () => {
    let hasEnded = false;
    const name = newContainer();
    await useDaemonBehind((question, connection) => {
      if (!question.startsWith("DELETE") || hasEnded) return false;
      hasEnded = true;
      connection.destroy();
      return true;
    });
    await removeContainer(dockerEngine, name);
    expect(hasEnded).toBe(true);
    expect(exists(name)).toBe(false);
  });

  test("fails with the command to type if the daemon does not answer", async () => {
    const name = newContainer();
    await useDaemonBehind((question) => question.startsWith("DELETE"));
    const calls = programCalls("docker");
    const error = await removeContainer(dockerEngine, name).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(SandboxError);
    expect((error as SandboxError).message).toContain(`Try: docker rm --force ${name}`);
    expect(calls()).toEqual([]);
    expect(exists(name)).toBe(true);
    callClient("docker", "rm", "--force", name);
  });
});

test("the daemon of another machine is not asked at a socket of this one", () => {
  const host = parseRemoteHost("tcp://example.com:2376") as RemoteHost;
  expect(remoteEngine(dockerEngine, host).localSocket()).toBeUndefined();
});

import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { SandboxUnavailableError, SandduneError } from "../../../src/errors.ts";
import { docker } from "../../../src/sandboxes/docker.ts";
import { programCalls } from "../../helpers/processes/programCalls.ts";
import { describeWith, TEST_IMAGE } from "../../helpers/runtimes/runtimes.ts";
import { ENGINES } from "./containers.ts";

const problemOf = async (attempt: Promise<void> | undefined): Promise<SandboxUnavailableError> => {
  const error = await Promise.resolve(attempt).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(SandboxUnavailableError);
  return error as SandboxUnavailableError;
};

afterEach(() => {
  vi.unstubAllEnvs();
});

for (const [engine, provider] of ENGINES) {
  test(`${engine}: a client that is not installed`, async () => {
    const empty = await mkdtemp(join(tmpdir(), "sanddune-empty-"));
    vi.stubEnv("PATH", empty);
    const error = await problemOf(provider({ imageName: TEST_IMAGE }).preflight?.({ repositoryPath: "/" }));
    expect(error.hint).toMatch(/^Install/);
    await rm(empty, { recursive: true });
  });

  describeWith([engine], `${engine} preflight`, () => {
    test("passes when nothing is missing", async () => {
      await provider({ imageName: TEST_IMAGE }).preflight?.({ repositoryPath: "/" });
    });

    test("a missing image, with the command that makes it", async () => {
      const error = await problemOf(provider().preflight?.({ repositoryPath: "/no/such/Repository" }));
      expect(error.message).toContain(`sanddune ${engine} build-image --image-name sanddune:repository`);
      expect(error.message).not.toContain("pull");
    });
  });
}

describeWith(["docker"], "docker preflight", () => {
  test("a daemon that does not answer", async () => {
    vi.stubEnv("DOCKER_HOST", "unix:///no/such/docker.sock");
    const error = await problemOf(docker({ imageName: TEST_IMAGE }).preflight?.({ repositoryPath: "/" }));
    expect(error.problem).toMatch(/does not answer/);
  });

  const preflight = () => docker({ imageName: TEST_IMAGE }).preflight?.({ repositoryPath: "/" });

  test("asks a daemon at a socket itself", async () => {
    const calls = programCalls("docker");
    await preflight();
    expect(calls()).toEqual([]);
  });

  test("asks the client where only that knows the daemon", async () => {
    const config = await mkdtemp(join(tmpdir(), "sanddune-docker-"));
    const { DOCKER_HOST = "unix:///var/run/docker.sock" } = process.env;
    vi.stubEnv("DOCKER_CONFIG", config);
    vi.stubEnv("DOCKER_HOST", undefined);
    execFileSync("docker", ["context", "create", "other", "--docker", `host=${DOCKER_HOST}`]);
    execFileSync("docker", ["context", "use", "other"]);
    const calls = programCalls("docker");
    await preflight();
    expect(calls().map(({ args }) => args.slice(0, 2))).toEqual([["image", "inspect"]]);
    await rm(config, { recursive: true });
  });

  test("lets the client say what is wrong if something else answers at the socket", async () => {
    const directory = await mkdtemp(join(tmpdir(), "sanddune-socket-"));
    const socket = join(directory, "socket");
    const server = createServer((_, response) => response.end('{"Id": 1}')).listen(socket);
    await once(server, "listening");
    vi.stubEnv("DOCKER_HOST", `unix://${socket}`);
    const error = await Promise.resolve(preflight()).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(SandduneError);
    server.close();
    await rm(directory, { recursive: true });
  });
});

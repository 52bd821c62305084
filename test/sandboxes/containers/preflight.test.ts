import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { SandboxUnavailableError } from "../../../src/errors.ts";
import { docker } from "../../../src/sandboxes/docker.ts";
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
});

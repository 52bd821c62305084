import { afterAll, beforeAll, test } from "vitest";
import { docker } from "../../src/sandboxes/docker.ts";
import { podman } from "../../src/sandboxes/podman.ts";
import { sandboxConformance } from "../../src/testing.ts";
import { dockerSocket, startPodmanService, useSshd, useTcpDoor } from "../helpers/remoteEngines.ts";
import { describeWith, TEST_IMAGE, TEST_USER_IMAGE } from "../helpers/runtimes.ts";
import { openIsolated } from "./openSandbox.ts";

const TIMEOUT_MS = 120_000;

describeWith(["docker"], "docker over tcp conforms", () => {
  const door = useTcpDoor();
  const cases = sandboxConformance(() =>
    openIsolated(docker({ image: TEST_USER_IMAGE, host: door().address })),
  );
  for (const { name, run } of cases) test(name, run, TIMEOUT_MS);
});

describeWith(["docker", "sshd"], "docker over ssh conforms", () => {
  const sshd = useSshd();
  const cases = sandboxConformance(() =>
    openIsolated(docker({ image: TEST_IMAGE, host: `${sshd().address}${dockerSocket()}` })),
  );
  for (const { name, run } of cases) test(name, run, TIMEOUT_MS);
});

describeWith(["podman", "sshd"], "podman over ssh conforms", () => {
  const sshd = useSshd();
  let service: Awaited<ReturnType<typeof startPodmanService>> | undefined;
  beforeAll(async () => {
    service = await startPodmanService();
  });
  afterAll(() => service?.stop());
  const cases = sandboxConformance(() =>
    openIsolated(podman({ image: TEST_IMAGE, host: `${sshd().address}${service?.socketPath}` })),
  );
  for (const { name, run } of cases) test(name, run, TIMEOUT_MS);
});

import { afterAll, beforeAll } from "vitest";
import { podman } from "../../../src/sandboxes/podman.ts";
import { startPodmanService, useSshd } from "../../helpers/runtimes/remoteEngines.ts";
import { describeWith, TEST_IMAGE } from "../../helpers/runtimes/runtimes.ts";
import { openIsolated } from "../openSandbox.ts";
import { testConformance } from "./testConformance.ts";

describeWith(["podman", "sshd"], "podman over ssh conforms", () => {
  const sshd = useSshd();
  let service: Awaited<ReturnType<typeof startPodmanService>> | undefined;
  beforeAll(async () => {
    service = await startPodmanService();
  });
  afterAll(() => service?.stop());
  const provider = () => podman({ imageName: TEST_IMAGE, host: `${sshd().address}${service?.socketPath}` });
  testConformance((options) => openIsolated(provider(), options), {
    removeSnapshot: async (snapshot) => provider().removeSnapshot?.(snapshot),
  });
});

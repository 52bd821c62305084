import { podman } from "../../../src/sandboxes/podman.ts";
import { describeWith, TEST_IMAGE } from "../../helpers/runtimes/runtimes.ts";
import { openBindMount } from "../openSandbox.ts";
import { testConformance } from "./testConformance.ts";

describeWith(["podman"], "podman conforms", () => {
  const provider = podman({ imageName: TEST_IMAGE });
  testConformance(async (options) => (await openBindMount(provider, options)).sandbox, {
    ...(provider.removeSnapshot && { removeSnapshot: provider.removeSnapshot }),
  });
});

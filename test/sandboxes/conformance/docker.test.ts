import { docker } from "../../../src/sandboxes/docker.ts";
import { describeWith, TEST_IMAGE } from "../../helpers/runtimes/runtimes.ts";
import { openBindMount } from "../openSandbox.ts";
import { testConformance } from "./testConformance.ts";

describeWith(["docker"], "docker conforms", () => {
  const provider = docker({ imageName: TEST_IMAGE });
  testConformance(async (options) => (await openBindMount(provider, options)).sandbox, {
    ...(provider.removeSnapshot && { removeSnapshot: provider.removeSnapshot }),
  });
});

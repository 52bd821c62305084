import { docker } from "../../../src/sandboxes/docker.ts";
import { useTcpRelay } from "../../helpers/runtimes/remoteEngines.ts";
import { describeWith, TEST_USER_IMAGE } from "../../helpers/runtimes/runtimes.ts";
import { openIsolated } from "../openSandbox.ts";
import { testConformance } from "./testConformance.ts";

describeWith(["docker"], "docker over tcp conforms", () => {
  const relay = useTcpRelay();
  const provider = () => docker({ imageName: TEST_USER_IMAGE, host: relay().address });
  testConformance((options) => openIsolated(provider(), options), {
    removeSnapshot: async (snapshot) => provider().removeSnapshot?.(snapshot),
  });
});

import { docker } from "../../../src/sandboxes/docker.ts";
import { dockerSocket, useSshd } from "../../helpers/runtimes/remoteEngines.ts";
import { describeWith, TEST_IMAGE } from "../../helpers/runtimes/runtimes.ts";
import { openIsolated } from "../openSandbox.ts";
import { testConformance } from "./testConformance.ts";

describeWith(["docker", "sshd"], "docker over ssh conforms", () => {
  const sshd = useSshd();
  const provider = () => docker({ imageName: TEST_IMAGE, host: `${sshd().address}${dockerSocket()}` });
  testConformance((options) => openIsolated(provider(), options), {
    removeSnapshot: async (snapshot) => provider().removeSnapshot?.(snapshot),
  });
});

import { docker } from "../../../src/sandboxes/docker.ts";
import { useTcpDoor } from "../../helpers/runtimes/remoteEngines.ts";
import { describeWith, TEST_USER_IMAGE } from "../../helpers/runtimes/runtimes.ts";
import { openIsolated } from "../openSandbox.ts";
import { testConformance } from "./testConformance.ts";

describeWith(["docker"], "docker over tcp conforms", () => {
  const door = useTcpDoor();
  testConformance(() => openIsolated(docker({ imageName: TEST_USER_IMAGE, host: door().address })));
});

import { kubernetes } from "../../src/sandboxes/kubernetes.ts";
import { testConformance } from "../sandboxes/conformance/testConformance.ts";
import { openIsolated } from "../sandboxes/openSandbox.ts";
import { describeWithCluster, IMAGE } from "./cluster.ts";

describeWithCluster("kubernetes conforms", () => {
  const provider = kubernetes({ imageName: IMAGE });
  testConformance(() => openIsolated(provider));
});

describeWithCluster("kubernetes conforms for a user who is not root", () => {
  const provider = kubernetes({ imageName: IMAGE, user: 1000 });
  testConformance(() => openIsolated(provider));
});

import { test } from "vitest";
import { kubernetes } from "../../src/sandboxes/kubernetes.ts";
import { sandboxConformance } from "../../src/testing.ts";
import { openIsolated } from "../sandboxes/openSandbox.ts";
import { describeWithCluster, IMAGE } from "./cluster.ts";

describeWithCluster("kubernetes conforms", () => {
  const provider = kubernetes({ image: IMAGE });
  for (const { name, run } of sandboxConformance(() => openIsolated(provider))) test(name, run);
});

describeWithCluster("kubernetes conforms for a user who is not root", () => {
  const provider = kubernetes({ image: IMAGE, user: 1000 });
  for (const { name, run } of sandboxConformance(() => openIsolated(provider))) test(name, run);
});

import { describe } from "vitest";
import type { SandboxSnapshot } from "../../../src/sandboxes/contract.ts";
import { e2b } from "../../../src/sandboxes/e2b.ts";
import { useE2bServer } from "../../helpers/cloud/useServers.ts";
import { isRoot } from "../../helpers/runtimes/runtimes.ts";
import { openIsolated } from "../openSandbox.ts";
import { testConformance } from "./testConformance.ts";

describe("e2b conforms", () => {
  useE2bServer();

  // The stand-in for E2B runs commands on the host, as whoever runs the tests.
  const skipped: Record<string, string> = isRoot
    ? {}
    : { "sudo means root, or is refused": "only root can run commands as root in the stand-in for E2B" };
  const removeSnapshot = async (snapshot: SandboxSnapshot) => e2b().removeSnapshot?.(snapshot);
  testConformance(
    (options) => openIsolated(e2b(), options),
    { ownsProcessNamespace: false, removeSnapshot },
    skipped,
  );
});

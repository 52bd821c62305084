import { describe } from "vitest";
import { e2b } from "../../src/sandboxes/e2b.ts";
import { useE2bServer } from "../helpers/cloud/useServers.ts";
import { openIsolated } from "./openSandbox.ts";
import { testConformance } from "./testConformance.ts";

describe("e2b conforms", () => {
  useE2bServer();

  // The stand-in for E2B runs commands on the host.
  testConformance(() => openIsolated(e2b()), { ownsProcessNamespace: false });
});

import { describe, test } from "vitest";
import { e2b } from "../../src/sandboxes/e2b.ts";
import { sandboxConformance } from "../../src/testing.ts";
import { useE2bServer } from "../helpers/cloud/useServers.ts";
import { openIsolated } from "./openSandbox.ts";

const TIMEOUT_MS = 120_000;

describe("e2b conforms", () => {
  useE2bServer();

  // The stand-in for E2B runs commands on the host.
  const cases = sandboxConformance(() => openIsolated(e2b()), { ownsProcessNamespace: false });
  for (const { name, run } of cases) test(name, run, TIMEOUT_MS);
});

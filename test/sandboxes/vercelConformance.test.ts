import { describe, test } from "vitest";
import { vercel } from "../../src/sandboxes/vercel.ts";
import { sandboxConformance } from "../../src/testing.ts";
import { useVercelServer } from "../helpers/cloud/useServers.ts";
import { openIsolated } from "./openSandbox.ts";

const TIMEOUT_MS = 120_000;

describe("vercel conforms", () => {
  useVercelServer();

  // The stand-in for Vercel runs commands on the host.
  const cases = sandboxConformance(() => openIsolated(vercel()), { ownsProcessNamespace: false });
  for (const { name, run } of cases) test(name, run, TIMEOUT_MS);
});

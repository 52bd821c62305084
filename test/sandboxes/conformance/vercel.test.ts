import { describe } from "vitest";
import { vercel } from "../../../src/sandboxes/vercel.ts";
import { useVercelServer } from "../../helpers/cloud/useServers.ts";
import { openIsolated } from "../openSandbox.ts";
import { testConformance } from "./testConformance.ts";

describe("vercel conforms", () => {
  useVercelServer();

  // The stand-in for Vercel runs commands on the host.
  testConformance((options) => openIsolated(vercel(), options), {
    ownsProcessNamespace: false,
    removeSnapshot: async (snapshot) => vercel().removeSnapshot?.(snapshot),
  });
});

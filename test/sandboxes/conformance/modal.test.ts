import { describe, expect, test } from "vitest";
import type { SandboxSnapshot } from "../../../src/sandboxes/contract.ts";
import { modal } from "../../../src/sandboxes/modal.ts";
import { sharedModalServer } from "../modal/scene.ts";
import { openIsolated } from "../openSandbox.ts";
import { testConformance } from "./testConformance.ts";

describe("modal conforms", () => {
  const server = sharedModalServer();
  const provider = modal();

  const removeSnapshot = async (snapshot: SandboxSnapshot) => provider.removeSnapshot?.(snapshot);

  describe("in each case", () => {
    testConformance((options) => openIsolated(provider, options), {
      ownsProcessNamespace: false,
      removeSnapshot,
    });
  });

  test("and has left nothing running", () => {
    expect(server().sandboxes).not.toEqual([]);
    expect(server().running()).toEqual([]);
  });
});

import { describe, expect, test } from "vitest";
import { modal } from "../../../src/sandboxes/modal.ts";
import { sharedModalServer } from "../modal/scene.ts";
import { openIsolated } from "../openSandbox.ts";
import { testConformance } from "./testConformance.ts";

describe("modal conforms", () => {
  const server = sharedModalServer();
  const provider = modal();

  describe("in each case", () => {
    testConformance(() => openIsolated(provider), { ownsProcessNamespace: false });
  });

  test("and has left nothing running", () => {
    expect(server().sandboxes).not.toEqual([]);
    expect(server().running()).toEqual([]);
  });
});

import { describe, expect, test } from "vitest";
import { modal } from "../../src/sandboxes/modal.ts";
import { sandboxConformance } from "../../src/testing.ts";
import { sharedModalServer } from "./modalScene.ts";
import { openIsolated } from "./openSandbox.ts";

const TIMEOUT_MS = 120_000;

describe("modal conforms", () => {
  const server = sharedModalServer();
  const provider = modal();
  const cases = sandboxConformance(() => openIsolated(provider), { ownsProcessNamespace: false });
  for (const { name, run } of cases) test(name, run, TIMEOUT_MS);

  test("and has left nothing running", () => {
    expect(server().sandboxes.length).toBeGreaterThanOrEqual(cases.length);
    expect(server().running()).toEqual([]);
  });
});

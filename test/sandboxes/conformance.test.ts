import { describe, test } from "vitest";
import { bubblewrap } from "../../src/sandboxes/bubblewrap.ts";
import { docker } from "../../src/sandboxes/docker.ts";
import { podman } from "../../src/sandboxes/podman.ts";
import { testIsolated } from "../../src/sandboxes/test-isolated.ts";
import { sandboxConformance } from "../../src/testing.ts";
import { describeWith, TEST_IMAGE } from "../helpers/runtimes.ts";
import { openBindMount, openIsolated } from "./openSandbox.ts";

const TIMEOUT_MS = 120_000;

describe("test-isolated conforms", () => {
  const cases = sandboxConformance(() => openIsolated(testIsolated()), { ownsProcessNamespace: false });
  for (const { name, run } of cases) test(name, run, TIMEOUT_MS);
});

describeWith(["bubblewrap"], "bubblewrap conforms", () => {
  const cases = sandboxConformance(async () => (await openBindMount(bubblewrap())).sandbox);
  for (const { name, run } of cases) test(name, run, TIMEOUT_MS);
});

describeWith(["docker"], "docker conforms", () => {
  const provider = docker({ image: TEST_IMAGE });
  const cases = sandboxConformance(async () => (await openBindMount(provider)).sandbox);
  for (const { name, run } of cases) test(name, run, TIMEOUT_MS);
});

describeWith(["podman"], "podman conforms", () => {
  const provider = podman({ image: TEST_IMAGE });
  const cases = sandboxConformance(async () => (await openBindMount(provider)).sandbox);
  for (const { name, run } of cases) test(name, run, TIMEOUT_MS);
});

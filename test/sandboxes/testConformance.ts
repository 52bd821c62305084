import { afterAll, test } from "vitest";
import { type ConformanceTraits, sandboxConformance } from "../../src/testing.ts";

const TIMEOUT_MS = 120_000;

/** The conformance suite as tests of the suite that calls this. */
export const testConformance = (
  open: Parameters<typeof sandboxConformance>[0],
  traits?: ConformanceTraits,
): void => {
  const { cases, close } = sandboxConformance(open, traits);
  for (const { name, run } of cases) test(name, run, TIMEOUT_MS);
  afterAll(close);
};

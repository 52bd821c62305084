import { afterAll, test } from "vitest";
import { type ConformanceTraits, sandboxConformance } from "../../../src/testing.ts";

const TIMEOUT_MS = 120_000;

/**
 * The conformance suite as tests of the suite that calls this. `skipped` has reasons by names of cases: of what a
 * stand-in for a provider cannot do on this machine.
 */
export const testConformance = (
  open: Parameters<typeof sandboxConformance>[0],
  traits?: ConformanceTraits,
  skipped: Readonly<Record<string, string>> = {},
): void => {
  const { cases, close } = sandboxConformance(open, traits);
  for (const { name, run } of cases) {
    test(name, { timeout: TIMEOUT_MS }, async ({ skip }) => {
      const reason = skipped[name];
      if (reason !== undefined) skip(reason);
      await run();
    });
  }
  afterAll(close);
};

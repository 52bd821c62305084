import { afterAll, beforeAll, beforeEach, describe, inject, test } from "vitest";
import type { Runtime } from "../../setup/runtimeChecks.ts";
import { runtimeGuard } from "../../setup/runtimeGuard.ts";

export { AGENTS } from "../../setup/cache.ts";
export type { Runtime };

export const TEST_IMAGE = process.env["SANDDUNE_TEST_IMAGE"] ?? "sanddune-test-base";
/** Its user is `agent`, 1000. */
export const TEST_USER_IMAGE = process.env["SANDDUNE_TEST_USER_IMAGE"] ?? "sanddune-test-user";
export const TEST_USER = process.env["SANDDUNE_TEST_USER"] ?? "sanddune-test";
/** Runs its arguments as the test user, with that user's rootless Podman. */
export const AS_TEST_USER = process.env["SANDDUNE_AS_TEST_USER"];

export const isRoot = process.getuid?.() === 0;

/** Whether every runtime has to be there. */
export const requiresRuntimes = process.env["SANDDUNE_REQUIRE_RUNTIMES"] === "1";

/** Why one of the runtimes cannot be used here; `undefined` if all can. */
const whyMissing = (runtimes: readonly Runtime[]): string | undefined => {
  const missing = inject("missingRuntimes");
  const [runtime] = runtimes.filter((name) => name in missing);
  return runtime === undefined ? undefined : `${runtime} is not available: ${missing[runtime]}`;
};

const declareForSuite = (runtimes: readonly Runtime[]): void => {
  beforeAll(() => runtimeGuard().declare(runtimes));
  afterAll(() => runtimeGuard().withdraw(runtimes));
};

declare module "vitest" {
  interface TaskMeta {
    skipReason?: string;
  }
}

const failWithout = (reason: string): void => {
  test("has its runtime", () => {
    throw new Error(reason);
  });
};

/**
 * Tests that need runtimes. Without one of them they are skipped with the reason, or fail where
 * SANDDUNE_REQUIRE_RUNTIMES=1 wants them all.
 */
export const describeWith = (runtimes: readonly Runtime[], title: string, body: () => void): void => {
  const reason = whyMissing(runtimes);
  if (reason === undefined) {
    describe(title, () => {
      declareForSuite(runtimes);
      body();
    });
  } else if (requiresRuntimes) {
    describe(title, () => failWithout(reason));
  } else {
    describe.skip(title, { meta: { skipReason: reason } }, body);
  }
};

/**
 * The same for all tests of the file that calls it. Vitest has no way to skip a file from within, so each test is skipped by
 * itself, and `beforeAll` hooks run nevertheless: a file with one that needs the runtime has to use `describeWith`.
 */
export const needsRuntimes = (...runtimes: readonly Runtime[]): void => {
  const reason = whyMissing(runtimes);
  if (reason === undefined) {
    declareForSuite(runtimes);
  } else {
    beforeEach((context) => {
      if (requiresRuntimes) throw new Error(reason);
      context.skip(reason);
    });
  }
};

import { type Checks, checkedOptions } from "../options/checks/checks.ts";
import { env } from "../options/checks/envVars.ts";
import type { EnvVars } from "../options/envVars.ts";
import { createIsolatedSandboxProvider, type IsolatedSandboxProvider } from "./contract.ts";
import { requirePseudoTerminal } from "./exec/pseudoTerminal.ts";
import { createTestIsolatedSandbox, TEST_ISOLATED } from "./testIsolated/sandbox.ts";

/** The options of `testIsolated()`. */
export interface TestIsolatedOptions {
  /** Env vars for every command of a run. */
  readonly env?: EnvVars;
}

const OPTIONS: Checks<TestIsolatedOptions> = { env };

/**
 * For tests of code that uses isolated sandboxes: the "sandbox" is a temporary directory, and commands run in it, on
 * the host, as the host's user. It isolates NOTHING: never run an agent in it.
 *
 * Commands get an environment of their own (PATH, HOME and TMPDIR in the temporary directory, LANG), never the host's.
 */
export const testIsolated = (options: TestIsolatedOptions = {}): IsolatedSandboxProvider =>
  createIsolatedSandboxProvider({
    name: TEST_ISOLATED,
    ...checkedOptions(options, OPTIONS),
    capabilities: { sudo: false, networkPolicy: "none" },
    preflight: async ({ usesTerminal }) => {
      if (usesTerminal) await requirePseudoTerminal(TEST_ISOLATED);
    },
    create: createTestIsolatedSandbox,
  });

import { type Checks, callback, checkedOptions, checkValue, flag } from "../options/checks/checks.ts";
import { commandCases } from "./conformance/commandCases.ts";
import type { AnySandboxHandle, ConformanceCase, ConformanceTraits } from "./conformance/conformanceCase.ts";
import { endingCases } from "./conformance/endingCases.ts";
import { environmentCases } from "./conformance/environmentCases.ts";
import { fileCases } from "./conformance/fileCases.ts";
import { inOwnSandbox, SharedSandbox } from "./conformance/sharedSandbox.ts";
import { snapshotCases } from "./conformance/snapshotCases.ts";
import { streamCases } from "./conformance/streamCases.ts";
import type { SandboxCreateOptions } from "./contract.ts";

export type { AnySandboxHandle, ConformanceCase, ConformanceTraits };

const TRAITS: Checks<ConformanceTraits> = { ownsProcessNamespace: flag, removeSnapshot: callback };

/** The cases, and the sandbox that most of them share. */
export interface ConformanceSuite {
  readonly cases: readonly ConformanceCase[];
  /** Closes the shared sandbox. Call it after the last case. */
  close(): Promise<void>;
}

/**
 * The promises of `SandboxHandle`, one case each, for whatever test runner: a sandbox provider that passes works with
 * sanddune. All cases but the few that end their sandbox share one, which the first of them opens. Its worktree has to be
 * empty, since cases delete what is in it. The sandbox needs `sh`, coreutils, `grep`, `setsid`. Where the handle has `snapshot`,
 * `open` has to pass its options on to `create`.
 *
 * @example
 * import { after, test } from "node:test";
 *
 * const open = () =>
 *   testIsolated().create({ runId: "conformance", sandboxName: "conformance", repositoryPath: process.cwd() });
 * const { cases, close } = sandboxConformance(open);
 * for (const { name, run } of cases) test(name, run);
 * after(close);
 */
export const sandboxConformance = (
  open: (options?: Pick<SandboxCreateOptions, "snapshot">) => Promise<AnySandboxHandle>,
  traits: ConformanceTraits = {},
): ConformanceSuite => {
  checkValue("open", open, callback);
  const known = { ownsProcessNamespace: true, ...checkedOptions(traits, TRAITS) };
  const shared = new SharedSandbox(open);
  const cases = [
    ...commandCases,
    ...streamCases,
    ...environmentCases,
    ...fileCases,
    ...snapshotCases(open, known.removeSnapshot),
    ...endingCases,
  ]
    .filter((definition) => definition.appliesTo?.(known) ?? true)
    .map((definition) => ({
      name: definition.name,
      run: () => (definition.needsOwnSandbox ? inOwnSandbox(open, definition) : shared.use(definition)),
    }));
  return { cases, close: () => shared.close() };
};

import { commandCases } from "./conformance/commandCases.ts";
import type { AnySandboxHandle, ConformanceCase, ConformanceTraits } from "./conformance/conformanceCase.ts";
import { endingCases } from "./conformance/endingCases.ts";
import { environmentCases } from "./conformance/environmentCases.ts";
import { fileCases } from "./conformance/fileCases.ts";
import { streamCases } from "./conformance/streamCases.ts";

export type { ConformanceCase, ConformanceTraits };

/**
 * The promises of `SandboxHandle`, one case each, for whatever test runner: a sandbox provider that passes works with
 * sanddune. Every case opens a sandbox of its own and closes it. The sandbox needs `sh`, coreutils, `grep`, `setsid`.
 *
 * @example
 * for (const { name, run } of sandboxConformance(() => myProvider.create(options()))) test(name, run);
 */
export const sandboxConformance = (
  open: () => Promise<AnySandboxHandle>,
  traits: ConformanceTraits = {},
): ConformanceCase[] => {
  const known = { ownsProcessNamespace: true, ...traits };
  return [...commandCases, ...streamCases, ...environmentCases, ...fileCases, ...endingCases]
    .filter((definition) => definition.appliesTo?.(known) ?? true)
    .map(({ name, check }) => ({
      name,
      run: async () => {
        const sandbox = await open();
        try {
          await check(sandbox);
        } finally {
          await sandbox.close();
        }
      },
    }));
};

import { callerOf, namingCaller } from "./boundary/callersStack.ts";
import type { StandaloneSandbox, StandaloneSandboxOptions } from "./options/standaloneSandbox.ts";
import type { SandboxProvider } from "./sandboxes/contract.ts";
import { validateSandbox } from "./standalone/validate.ts";

/**
 * Creates a sandbox without a repository: a machine to run commands on and to copy files to and from. For an agent that
 * makes commits, see `run()` and `createSandbox()`.
 *
 * @example
 * const machine = await createStandaloneSandbox(docker({ imageName: "node:24" }));
 * await machine.writeFile("hello.mjs", "console.log('hello')");
 * const { exitCode, stdout } = await machine.run("node hello.mjs", { timeoutMs: 10_000 });
 * await machine.terminate();
 */
export const createStandaloneSandbox = (
  provider: SandboxProvider,
  options: StandaloneSandboxOptions = {},
): Promise<StandaloneSandbox> =>
  namingCaller(callerOf(createStandaloneSandbox), async () => {
    validateSandbox(provider, options);
    // A copy: the caller may change the options while the implementation is loaded, for the reason that `enter()` gives.
    const own = { ...options };
    const { createStandalone } = await import("./standalone/createStandalone.ts");
    return createStandalone(provider, own);
  });

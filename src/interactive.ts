import { enter } from "./boundary/enter.ts";
import { validateInteractive } from "./options/checks/entryPoints.ts";
import type { InteractiveOptions } from "./options/interactiveOptions.ts";
import type { InteractiveResult } from "./options/results.ts";

/**
 * Shows the agent's own interface in the terminal. The agent runs in a sandbox or, with `noSandbox()`, on the host.
 * Resolves when the person leaves the agent. The branch strategy is the sandbox provider's default; for others, see
 * `createWorktree()`.
 *
 * @example
 * const { exitCode, commits, branch } = await interactive({ agent, sandbox: docker(), prompt: "Fix issue 42 with me" });
 */
export const interactive = (options: InteractiveOptions): Promise<InteractiveResult> =>
  enter(options, validateInteractive, async () => (await import("./engine/entryPoints.ts")).interactive);

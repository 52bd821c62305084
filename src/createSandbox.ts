import { enter } from "./boundary/enter.ts";
import { validateCreateSandbox } from "./options/checks/entryPoints.ts";
import type { Sandbox } from "./options/sandbox.ts";
import type { CreateSandboxOptions } from "./options/sandboxOptions.ts";

/**
 * Creates a sandbox on a branch, for several runs. It starts once, and its state persists between the runs. `close()`
 * closes the sandbox and removes its worktree. For a worktree that outlives its sandboxes, see `createWorktree()`.
 *
 * @example
 * const sandbox = await createSandbox({ branch: "agent/fix-42", sandbox: docker() });
 * await sandbox.run({ agent, prompt: "Fix issue 42" });
 * await sandbox.run({ agent: reviewer, prompt: "Review the last commit" });
 * await sandbox.close();
 */
export const createSandbox = (options: CreateSandboxOptions): Promise<Sandbox> =>
  enter(options, validateCreateSandbox, async () => (await import("./engine/entryPoints.ts")).createSandbox);

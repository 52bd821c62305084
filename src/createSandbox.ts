import * as Effect from "effect/Effect";
import { enter } from "./boundary/boundary.ts";
import { lastingSandbox } from "./engine/lasting/lastingSandbox.ts";
import { openLastingSandbox } from "./engine/lasting/openLasting.ts";
import { planCreateSandbox } from "./engine/plan/planLasting.ts";
import { validateCreateSandbox } from "./options/checks/entryPoints.ts";
import type { Sandbox } from "./options/sandbox.ts";
import type { CreateSandboxOptions } from "./options/sandboxOptions.ts";

/**
 * Makes a sandbox on a branch, for several runs: it is started once, and what is installed in it stays. It owns its
 * worktree: `close()` ends both. For a worktree that outlives its sandboxes, see `createWorktree()`.
 *
 * @example
 * const sandbox = await createSandbox({ branch: "agent/fix-42", sandbox: docker() });
 * await sandbox.run({ agent, prompt: "Fix issue 42" });
 * await sandbox.run({ agent: reviewer, prompt: "Review the last commit" });
 * await sandbox.close();
 */
export const createSandbox = (options: CreateSandboxOptions): Promise<Sandbox> =>
  enter(options, validateCreateSandbox, (own) =>
    planCreateSandbox(own).pipe(Effect.flatMap(openLastingSandbox), Effect.map(lastingSandbox)),
  );

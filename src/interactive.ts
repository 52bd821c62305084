import * as Effect from "effect/Effect";
import { interactiveSession } from "./engine/interactiveSession.ts";
import { planInteractive, withTerminal } from "./engine/planInteractive.ts";
import { validateInteractive } from "./engine/validateOptions.ts";
import type { InteractiveOptions } from "./interactiveOptions.ts";
import { enter } from "./process/boundary.ts";
import type { InteractiveResult } from "./results.ts";

/**
 * Shows the agent's own interface on the terminal, in a sandbox or, with `noSandbox()`, on the host, and resolves when
 * the person leaves it. The branch strategy is the sandbox provider's default; for others, see `createWorktree()`.
 *
 * @example
 * const { exitCode, commits, branch } = await interactive({ agent, sandbox: docker(), prompt: "Fix issue 42 with me" });
 */
export const interactive = (options: InteractiveOptions): Promise<InteractiveResult> =>
  enter(options, validateInteractive, (own) =>
    withTerminal(planInteractive(own).pipe(Effect.flatMap(interactiveSession))),
  );

import * as Effect from "effect/Effect";
import { attempt } from "../../boundary/failures.ts";
import { interruptible } from "../../boundary/interruptible.ts";
import { askForText, askForYes, atTerminal } from "../../display/ask.ts";
import { CancelledError, type SandduneError } from "../../errors.ts";
import type {
  InteractiveOptions,
  SandboxInteractiveOptions,
  WorktreeInteractiveOptions,
} from "../../options/interactiveOptions.ts";
import type { PromptArgs } from "../../options/promptArgs.ts";
import { swallowAnswers } from "../../process/terminal/swallowAnswers.ts";
import { takeTerminal } from "../../process/terminal/terminalLease.ts";
import type { ResolvedPrompt } from "../../prompt/resolvePrompt.ts";
import type { InteractiveSandboxProvider } from "../../sandboxes/contract.ts";
import { promptSizeProblem } from "../interactive/promptSize.ts";
import type { ParentSession } from "./parentSession.ts";
import type { InteractionPlan } from "./plan.ts";
import { planCheckout } from "./planCheckout.ts";
import { planSandbox } from "./planSandbox.ts";
import { type PlanRequest, planSession } from "./planSession.ts";

/** Asks the person at the terminal for missing prompt arguments. */
const askFor = (keys: readonly string[], promptFile: string, signal: AbortSignal): Promise<PromptArgs> =>
  atTerminal(signal, async (ask) => {
    const answers: Record<string, string> = {};
    for (const key of keys) answers[key] = await askForText(ask, `{{${key}}} in ${promptFile}:`);
    return answers;
  });

const planInteraction = (
  options: SandboxInteractiveOptions,
  prompt: ResolvedPrompt,
): Effect.Effect<InteractionPlan, SandduneError> => {
  const hasPrompt = options.prompt !== undefined || options.promptFile !== undefined;
  const problem = promptSizeProblem(prompt);
  if (problem !== undefined) return Effect.fail(problem);
  return Effect.succeed({
    options,
    prompt: hasPrompt ? prompt : undefined,
  });
};

const requestOf = (options: SandboxInteractiveOptions): PlanRequest => ({
  kind: "interactive",
  options,
  agent: options.agent,
  askFor,
});

/** Shell expressions run on the host here, and an agent may have changed them: a person has to confirm. */
const confirmExpressions = (
  provider: InteractiveSandboxProvider,
  { promptFile, parts }: ResolvedPrompt,
): Effect.Effect<void, SandduneError> => {
  const commands = parts.flatMap((part) => (typeof part === "string" ? [] : [part.source]));
  if (provider.type !== "none" || commands.length === 0) return Effect.void;
  const question = `${promptFile} runs these commands on your machine:\n${commands.map((command) => `  ${command}\n`).join("")}Run them?`;
  return interruptible(async (signal) => {
    // Discard what was typed before the question was visible.
    await swallowAnswers();
    return atTerminal(signal, (ask) => askForYes(ask, question));
  }).pipe(Effect.flatMap((isWanted) => (isWanted ? Effect.void : Effect.fail(new CancelledError(question)))));
};

/** Holds the terminal from the first question to the end of the session. */
export const withTerminal = <A>(body: Effect.Effect<A, SandduneError>): Effect.Effect<A, SandduneError> =>
  Effect.acquireUseRelease(
    attempt(takeTerminal),
    () => body,
    (release) => Effect.sync(release),
  );

export const planInteractive = Effect.fnUntraced(function* (options: InteractiveOptions) {
  const sandbox = planSandbox(options.sandbox, options);
  const planned = yield* planSession({ ...requestOf(options), sandbox });
  const interaction = yield* planInteraction(options, planned.prompt);
  yield* confirmExpressions(options.sandbox, planned.prompt);
  return {
    session: planned.session,
    checkout: planCheckout(options, planned.source, { isShared: options.sandbox.type === "none" }),
    sandbox,
    interaction,
  };
});

export const planWorktreeInteractive = Effect.fnUntraced(function* (
  options: WorktreeInteractiveOptions & { readonly sandbox: InteractiveSandboxProvider },
  parentSession: ParentSession,
) {
  const sandbox = planSandbox(options.sandbox, options);
  const { session, prompt } = yield* planSession({ ...requestOf(options), sandbox, parentSession });
  const interaction = yield* planInteraction(options, prompt);
  yield* confirmExpressions(options.sandbox, prompt);
  return { session, sandbox, interaction };
});

export const planSandboxInteractive = Effect.fnUntraced(function* (
  options: SandboxInteractiveOptions,
  parentSession: ParentSession,
) {
  const { session, prompt } = yield* planSession({ ...requestOf(options), parentSession });
  return { session, interaction: yield* planInteraction(options, prompt) };
});

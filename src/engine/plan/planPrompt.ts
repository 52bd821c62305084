import * as Effect from "effect/Effect";
import { attempt } from "../../boundary/failures.ts";
import { interruptible } from "../../boundary/interruptible.ts";
import { InvalidOptionsError, type SandduneError } from "../../errors.ts";
import type { BranchPlan } from "../../options/branchStrategy.ts";
import type { PromptArgs } from "../../options/promptArgs.ts";
import {
  missingArguments,
  type ResolvedPrompt,
  substituteArguments,
  type UnresolvedPrompt,
  unusedArguments,
} from "../../prompt/resolvePrompt.ts";

export interface PromptRequest {
  readonly prompt: UnresolvedPrompt;
  readonly args: PromptArgs;
  readonly branches: BranchPlan;
  readonly headSha: string;
  /** Asks for missing arguments. Without it, a missing argument is an error. */
  readonly askFor:
    | ((keys: readonly string[], promptFile: string, signal: AbortSignal) => Promise<PromptArgs>)
    | undefined;
}

/** The built-in prompt arguments: names that git knows in the sandbox and on the host. */
const builtInArguments = ({ sourceBranch, targetBranch }: BranchPlan, headSha: string): PromptArgs => ({
  SOURCE_BRANCH: sourceBranch ?? "HEAD",
  // A detached HEAD has no name; in a worktree, `HEAD` would be the source branch.
  TARGET_BRANCH: targetBranch ?? headSha,
});

/** Substitutes the prompt arguments. Fails if one is missing, or if the caller sets a built-in one. */
export const planPrompt = Effect.fnUntraced(function* ({
  prompt,
  args,
  branches,
  headSha,
  askFor,
}: PromptRequest): Effect.fn.Return<
  { readonly prompt: ResolvedPrompt; readonly warnings: string[] },
  SandduneError
> {
  const builtIns = builtInArguments(branches, headSha);
  const unused = unusedArguments(prompt, args);
  const missing = missingArguments(prompt, { ...args, ...builtIns });
  const answers =
    askFor === undefined || missing.length === 0
      ? {}
      : yield* interruptible((signal) => askFor(missing, prompt.promptFile ?? "", signal));
  const resolved = yield* attempt(() => substituteArguments(prompt, { ...args, ...answers }, builtIns));
  const { promptFile } = prompt;
  const isBlank = resolved.parts.every((part) => typeof part === "string" && part.trim() === "");
  if (promptFile !== undefined && isBlank)
    return yield* Effect.fail(new InvalidOptionsError("promptFile", `${promptFile} is empty`));
  return {
    prompt: resolved,
    warnings:
      unused.length === 0 ? [] : [`Prompt arguments that ${promptFile} does not use: ${unused.join(", ")}.`],
  };
});

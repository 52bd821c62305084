import type { BranchPlan } from "../git/branchStrategy.ts";
import {
  type PromptArgs,
  type ResolvedPrompt,
  substituteArguments,
  type UnresolvedPrompt,
  unusedArguments,
} from "../prompt/resolvePrompt.ts";

/** What prompt templates can say about branches: names that git knows, in the sandbox and on the host. */
const builtInArguments = ({ sourceBranch, targetBranch }: BranchPlan, headSha: string): PromptArgs => ({
  SOURCE_BRANCH: sourceBranch ?? "HEAD",
  // A detached HEAD has no name; in a worktree, `HEAD` would be the source branch.
  TARGET_BRANCH: targetBranch ?? headSha,
});

/** Fills the prompt's arguments in. Throws if one is missing or is not the caller's to set. */
export const planPrompt = (
  prompt: UnresolvedPrompt,
  args: PromptArgs,
  branches: BranchPlan,
  headSha: string,
): { readonly prompt: ResolvedPrompt; readonly warnings: string[] } => {
  const unused = unusedArguments(prompt, args);
  return {
    prompt: substituteArguments(prompt, args, builtInArguments(branches, headSha)),
    warnings:
      unused.length === 0
        ? []
        : [`Prompt arguments that ${prompt.promptFile} does not use: ${unused.join(", ")}.`],
  };
};

import { resolve } from "node:path";
import { InvalidTaskError, SandduneError } from "../errors.ts";
import { type BranchPlan, resolveBranchStrategy } from "../options/branchStrategy.ts";
import { validateRun } from "../options/checks/entryPoints.ts";
import type { RunOptions } from "../options/runOptions.ts";

/** Only the requested strategy matters here. The run reads the actual HEAD. */
const SOME_HEAD = { branch: undefined, sha: "" };

const planBranch = (task: RunOptions): BranchPlan => {
  validateRun(task);
  return resolveBranchStrategy(task.branchStrategy, task.sandbox.type, SOME_HEAD, "");
};

const planBranches = (tasks: readonly RunOptions[]): BranchPlan[] =>
  tasks.map((task, index) => {
    try {
      return planBranch(task);
    } catch (error) {
      if (error instanceof SandduneError) throw new InvalidTaskError(index, error.message, { cause: error });
      throw error;
    }
  });

/** Remembers the first index with each key. Returns it for every later index with the same key. */
const firsts = () => {
  const known = new Map<string, number>();
  return (key: string, index: number): number | undefined => {
    const first = known.get(key);
    if (first === undefined) known.set(key, index);
    return first;
  };
};

const OWN_BRANCH = "Give each task its own branch, or use `merge-to-head`.";

/** Only one run at a time can work on a branch or in a checkout: a second one would fail. */
const checkBranches = (tasks: readonly RunOptions[], plans: readonly BranchPlan[]): void => {
  const placeOf = (index: number) => resolve(tasks[index]?.cwd ?? ".");
  const firstOn = firsts();
  const inCheckout = new Map<string, number>();
  for (const [index, plan] of plans.entries()) {
    if (plan.strategy === "head") inCheckout.set(placeOf(index), inCheckout.get(placeOf(index)) ?? index);
  }
  for (const [index, plan] of plans.entries()) {
    const place = placeOf(index);
    const holder = inCheckout.get(place);
    if (plan.strategy === "branch") {
      const first = firstOn(`${place}\0${plan.sourceBranch}`, index);
      if (first === undefined) continue;
      throw new InvalidTaskError(
        index,
        `it works on the branch ${plan.sourceBranch}, as does tasks[${first}]. ${OWN_BRANCH}`,
      );
    }
    if (holder === undefined || holder === index) continue;
    throw new InvalidTaskError(
      index,
      plan.strategy === "head"
        ? `it works in the checkout ${place}, as does tasks[${holder}]: their branch strategy is \`head\`. ${OWN_BRANCH}`
        : `it would be merged into the checkout ${place}, but tasks[${holder}] works there with \`head\`. ${OWN_BRANCH}`,
    );
  }
};

const checkNames = (tasks: readonly RunOptions[]): void => {
  const firstCalled = firsts();
  for (const [index, { name }] of tasks.entries()) {
    const first = name === undefined ? undefined : firstCalled(name, index);
    if (first === undefined) continue;
    throw new InvalidTaskError(
      index,
      `it has the same name as tasks[${first}], ${JSON.stringify(name)}. Give each task its own name.`,
    );
  }
};

/** Refuses a list with an invalid task, or with two tasks that conflict. */
export const checkTasks = (tasks: readonly RunOptions[]): void => {
  checkBranches(tasks, planBranches(tasks));
  checkNames(tasks);
};

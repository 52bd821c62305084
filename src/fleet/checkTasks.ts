import { resolve } from "node:path";
import { InvalidTaskError, SandduneError } from "../errors.ts";
import { type BranchPlan, resolveBranchStrategy } from "../options/branchStrategy.ts";
import { validateRun } from "../options/checks/entryPoints.ts";
import type { RunOptions } from "../options/runOptions.ts";

/** Only what was asked for matters here: where HEAD is will be found out by the run. */
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

/** Remembers who came first with a key, and gives that one to those who come later. */
const firsts = () => {
  const known = new Map<string, number>();
  return (key: string, index: number): number | undefined => {
    const first = known.get(key);
    if (first === undefined) known.set(key, index);
    return first;
  };
};

const OWN_BRANCH = "Give each a branch of its own, or use `merge-to-head`.";

/** A branch is held by one run at a time, and so is a checkout: the second one would fail, or wait for who knows what. */
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
        `it works on the branch ${plan.sourceBranch}, and so does tasks[${first}]. ${OWN_BRANCH}`,
      );
    }
    if (holder === undefined || holder === index) continue;
    throw new InvalidTaskError(
      index,
      plan.strategy === "head"
        ? `it works in the checkout ${place}, and so does tasks[${holder}]: their branch strategy is \`head\`. ${OWN_BRANCH}`
        : `it is to be merged into the checkout ${place}, but tasks[${holder}] works there with \`head\`. ${OWN_BRANCH}`,
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
      `it is called ${JSON.stringify(name)}, and so is tasks[${first}]: nobody could tell them apart.`,
    );
  }
};

/** Refuses a list in which a task is wrong, or is in the way of another one. */
export const checkTasks = (tasks: readonly RunOptions[]): void => {
  checkBranches(tasks, planBranches(tasks));
  checkNames(tasks);
};

import { existsSync } from "node:fs";
import * as Effect from "effect/Effect";
import {
  BranchDeletedError,
  type SandduneError,
  WorktreeMissingError,
  WorktreeSwitchedError,
} from "../../errors.ts";
import { type HostState, readHead } from "../../git/hostState.ts";
import { findNestedRepositories } from "../../git/nestedRepositories/findNestedRepositories.ts";
import { branchRef, resolveCommit } from "../../git/refs.ts";
import { isStillOn } from "../../git/worktrees/syncIndex.ts";
import type { CheckoutSession } from "./checkoutSession.ts";
import { nestedSearch } from "./cleanUpAfterAgent.ts";

const tipOnHost = ({
  repository,
  branch,
}: CheckoutSession): Effect.Effect<string | undefined, SandduneError> =>
  resolveCommit(repository.topLevel, branch === undefined ? "HEAD" : branchRef(branch));

const tipIn = ({ head, refs }: HostState, { branch }: CheckoutSession): string | undefined =>
  branch === undefined ? head.sha : refs.find(({ name }) => name === branchRef(branch))?.sha;

/** Finds the commits that were made on the host since the last call. */
export const refreshTip = Effect.fnUntraced(function* (
  checkout: CheckoutSession,
  /** If it was read a moment ago. */
  host?: HostState,
): Effect.fn.Return<void, SandduneError> {
  const branch = checkout.branch ?? "HEAD";
  const sha = (host && tipIn(host, checkout)) ?? (yield* tipOnHost(checkout));
  if (sha === undefined) return yield* Effect.fail(new BranchDeletedError(branch, checkout.tip));
  if (sha !== checkout.tip) {
    checkout.tip = sha;
    // A commit on the host has updated the checkout's own index.
    checkout.indexAt = sha;
  }
  if (!existsSync(checkout.path)) return yield* Effect.fail(new WorktreeMissingError(checkout.path, branch));
});

/** Reads changes by hooks and the user: the next agent starts from them; none is the agent's. */
export const refreshCheckout = Effect.fnUntraced(function* (
  checkout: CheckoutSession,
  host?: HostState,
): Effect.fn.Return<void, SandduneError> {
  yield* refreshTip(checkout, host);
  // While a sandbox is open, a repository in the checkout may be the agent's.
  if (checkout.openSandboxes > 0) return;
  checkout.nestedRepositories = yield* findNestedRepositories(nestedSearch(checkout));
});

/** The branch or commit that a worktree was switched to; `undefined` if it is on its branch. */
export const switchedTo = (checkout: CheckoutSession): Effect.Effect<string | undefined, SandduneError> => {
  const { worktree, path } = checkout;
  if (worktree === undefined || isStillOn(checkout)) return Effect.succeed(undefined);
  return Effect.map(readHead(path), (head) => head.branch ?? `the commit ${head.sha}`);
};

/** Fails if the worktree is on another branch: an agent could commit the files of one to the other. */
export const requireOnBranch = Effect.fnUntraced(function* (
  checkout: CheckoutSession,
): Effect.fn.Return<void, SandduneError> {
  const elsewhere = yield* switchedTo(checkout);
  if (elsewhere === undefined || checkout.branch === undefined) return;
  return yield* Effect.fail(new WorktreeSwitchedError(checkout.path, checkout.branch, elsewhere));
});

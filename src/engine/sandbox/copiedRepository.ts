import { join } from "node:path";
import * as Effect from "effect/Effect";
import { interruptible } from "../../boundary/interruptible.ts";
import { SandboxError, type SandduneError } from "../../errors.ts";
import { branchRef, updateRefs } from "../../git/refs.ts";
import { baseRef } from "../../git/runRefs.ts";
import { repositoryScript, type SandboxRepository } from "../../git/transfer/sandboxRepository.ts";
import { copiedWorktreeFiles } from "../../git/worktrees/worktreeFiles.ts";
import { shellQuote } from "../../tools/shellQuote.ts";
import type { CheckoutSession } from "../checkout/checkoutSession.ts";
import type { Session } from "../session/session.ts";
import type { SandboxSession } from "./sandboxSession.ts";

const TIMEOUT_MS = 20_000;

/**
 * Puts the repository of a fork on the branch of the fork. Git does that in the sandbox: the agent has written the files of the
 * repository, and any of them may be a link. Index and files stay. An agent that has left the branch of the original stays where it is.
 */
export const moveToBranch = (
  repository: SandboxRepository,
  { branch, tip, copiedFrom }: Pick<CheckoutSession, "branch" | "tip" | "copiedFrom">,
  provider: string,
): Effect.Effect<void, SandduneError> => {
  if (branch === undefined || copiedFrom === undefined) return Effect.void;
  const [ref, former] = [branch, copiedFrom].map((name) => shellQuote(branchRef(name)));
  const script = `${repositoryScript(repository)}
git update-ref ${ref} ${tip} || exit 1
if [ "$(git symbolic-ref --quiet HEAD)" = ${former} ]; then git symbolic-ref HEAD ${ref} || exit 1; fi`;
  return interruptible((signal) => repository.handle.exec(script, { signal, timeoutMs: TIMEOUT_MS })).pipe(
    Effect.flatMap(({ exitCode, stderr }) =>
      exitCode === 0
        ? Effect.void
        : Effect.fail(
            new SandboxError(provider, `git in the fork could not be put on the branch ${branch}`, stderr),
          ),
    ),
  );
};

/** The state of a fork whose repository came with the snapshot. The worktree on the host is a copy, too. */
export const openCopiedRepository = Effect.fnUntraced(function* (
  { journal, plan }: Session,
  checkout: CheckoutSession,
  repository: SandboxRepository,
  { parent, provider }: { readonly parent: SandboxSession; readonly provider: string },
): Effect.fn.Return<
  Pick<SandboxSession, "files" | "sharedCommits" | "laterCommits" | "recordsCheckpoints">,
  SandduneError
> {
  yield* moveToBranch(repository, checkout, provider);
  const { sharedCommits, laterCommits, recordsCheckpoints, files } = parent;
  if (files === undefined) return yield* Effect.die("an isolated sandbox has files of its own");
  const indexPath = join(journal.filesDirectory, "files-index");
  yield* updateRefs(plan.repository.topLevel, [{ ref: baseRef(plan.runId), to: files.current }]);
  return {
    files: yield* copiedWorktreeFiles(files, checkout.path, indexPath),
    sharedCommits,
    laterCommits: [...new Set([...laterCommits, checkout.tip])],
    recordsCheckpoints,
  };
});

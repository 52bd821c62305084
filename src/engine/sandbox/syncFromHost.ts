import * as Effect from "effect/Effect";
import { interruptible } from "../../boundary/interruptible.ts";
import { ProcessTimeoutError, SandboxError, type SandduneError } from "../../errors.ts";
import type { HostState } from "../../git/hostState.ts";
import { branchRef } from "../../git/refs.ts";
import { repositoryScript } from "../../git/transfer/sandboxRepository.ts";
import { shellQuote } from "../../tools/shellQuote.ts";
import { refreshTip, requireOnBranch } from "../checkout/hostChanges.ts";
import type { SandboxSession } from "./sandboxSession.ts";

const TIMEOUT_MS = 20_000;

const DIVERGED = 3;

/** The sandbox already has the objects. The order lets it be repeated after an interruption. */
const followScript = ({ repository, checkout, tip }: SandboxSession, branch: string): string => {
  const ref = shellQuote(branchRef(branch));
  return `${repositoryScript(repository)}
case $(git rev-parse --quiet --verify ${ref}) in
  ${checkout.tip}) exit 0 ;;
  ${tip}) ;;
  *) exit ${DIVERGED} ;;
esac
if [ "$(git symbolic-ref --quiet HEAD)" = ${ref} ]; then
  git read-tree -i -m ${tip} ${checkout.tip} || git read-tree ${checkout.tip} || exit 1
fi
git update-ref ${ref} ${checkout.tip} ${tip}`;
};

/** Updates an open sandbox to commits that were made on the host or in another sandbox meanwhile. */
export const syncFromHost = Effect.fnUntraced(function* (
  sandbox: SandboxSession,
  host?: HostState,
): Effect.fn.Return<void, SandduneError> {
  const { checkout, repository, owner } = sandbox;
  yield* refreshTip(checkout, host);
  yield* requireOnBranch(checkout);
  if (checkout.tip === sandbox.tip || checkout.branch === undefined) return;
  const refuse = (problem: string, output = "") =>
    Effect.fail(new SandboxError(owner.plan.sandboxName ?? repository.handle.name, problem, output));
  if (repository.hostGitDirectory === undefined) {
    return yield* refuse(
      `${checkout.branch} has new commits on the host, which an open isolated sandbox cannot receive. Close it and create another one, which will start from them`,
    );
  }
  const script = followScript(sandbox, checkout.branch);
  const { exitCode, stderr } = yield* interruptible((signal) =>
    repository.handle.exec(script, { signal, timeoutMs: TIMEOUT_MS }),
  ).pipe(
    // Something that the last agent left may block git.
    Effect.catchIf(
      (error) => error instanceof ProcessTimeoutError,
      ({ stderr }) => Effect.succeed({ exitCode: 1, stderr }),
    ),
  );
  if (exitCode === DIVERGED) {
    return yield* refuse(
      `${checkout.branch} has new commits on the host, and other commits in the sandbox that could not be imported. Close the sandbox and create another one`,
    );
  }
  if (exitCode !== 0) {
    return yield* refuse(
      `git in it could not be updated to the new commits of ${checkout.branch} on the host. Close it and create another one`,
      stderr,
    );
  }
  sandbox.tip = checkout.tip;
  sandbox.laterCommits = [...sandbox.laterCommits, checkout.tip];
});

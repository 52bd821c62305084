import { chmodSync, lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import * as Effect from "effect/Effect";
import { withHostFileErrors } from "../../boundary/failures.ts";
import { interruptible } from "../../boundary/interruptible.ts";
import { SandboxLostError, type SandduneError } from "../../errors.ts";
import { sandboxDirectories } from "../../git/sandboxDirectory/sandboxGitDirectory.ts";
import { keepSandboxHome } from "../../git/sandboxDirectory/sandboxHome.ts";
import { copyUntracked } from "../../git/setups/copyUntracked.ts";
import { firstChange, gitState } from "../../git/setups/gitState.ts";
import { type SetupRecord, setupPaths } from "../../git/setups/keptSetup.ts";
import { inspectAfter, untrackedRoot } from "../../git/setups/layer.ts";
import { displayPath, NotKeptError } from "../../git/setups/notKept.ts";
import { removeRights } from "../../git/setups/removeRights.ts";
import { discardDraft, openDraft, publishSetup } from "../../git/setups/storeSetup.ts";
import { ownIdentity } from "../../process/kill/processIdentity.ts";
import { sandduneCommand } from "../../process/ownCommand/sandduneCommand.ts";
import type { SandboxHandle } from "../../sandboxes/contract.ts";
import { removeSnapshot } from "../../sandboxes/snapshots.ts";
import { messageOf } from "../../tools/messageOf.ts";
import type { CheckoutSession } from "../checkout/checkoutSession.ts";
import { timed } from "../session/phases.ts";
import type { Session } from "../session/session.ts";
import type { OpenSetup } from "./openSetup.ts";

/** An entry of a worktree's layer that git or the kernel would treat as more than a file. */
const refuse = (_: string, name: string): string | undefined =>
  name.toLowerCase() === ".git" ? "is a git repository of its own" : undefined;

/** The paths that the hooks have made in the worktree. */
const madePaths = Effect.fnUntraced(function* (
  session: Session,
  checkout: CheckoutSession,
  setup: OpenSetup,
): Effect.fn.Return<readonly string[], SandduneError | NotKeptError> {
  const { filesDirectory } = session.journal;
  const { git } = sandboxDirectories(filesDirectory);
  const changed = firstChange(setup.gitBefore, gitState(git));
  if (changed !== undefined)
    return yield* Effect.fail(
      new NotKeptError(`a hook changed ${displayPath(changed)} in the git directory of the sandbox`),
    );
  const paths = yield* inspectAfter(checkout, setup.before, join(git, "index"), filesDirectory);
  return typeof paths === "string" ? yield* Effect.fail(new NotKeptError(paths)) : paths;
});

const notKept = (cause: unknown): SandduneError | NotKeptError => cause as SandduneError | NotKeptError;

/** Fills a draft: the worktree's files, HOME, and the sandbox's own. Succeeds with the complete record. */
const fill = Effect.fnUntraced(function* (
  session: Session,
  checkout: CheckoutSession,
  handle: SandboxHandle,
  draft: string,
  record: SetupRecord,
): Effect.fn.Return<SetupRecord, SandduneError | NotKeptError> {
  const { layer, home, sandbox } = setupPaths(draft);
  const { filesDirectory } = session.journal;
  const from = untrackedRoot(checkout);
  const copied = yield* interruptible(
    (signal) => copyUntracked({ from, to: layer, refuse, signal }, record.paths),
    notKept,
  );
  // The layer lies over the worktree, whose mode the sandbox's user depends on.
  chmodSync(layer, lstatSync(from).mode & 0o777);
  const snapshot = { name: record.snapshotName, directory: sandbox };
  const [, snapshotState = ""] = yield* Effect.all(
    [
      keepSandboxHome(filesDirectory, draft),
      interruptible(async (signal) => handle.snapshot?.({ ...snapshot, signal })),
    ],
    { concurrency: "unbounded" },
  );
  yield* removeRights([home, sandbox]);
  return { ...record, ...copied, hasHome: readdirSync(home).length > 0, snapshotState };
});

const keep = Effect.fnUntraced(function* (
  session: Session,
  checkout: CheckoutSession,
  handle: SandboxHandle,
  setup: OpenSetup,
): Effect.fn.Return<string, SandduneError | NotKeptError> {
  const { repository, runId } = session.plan;
  const { filesDirectory } = session.journal;
  const { name, key, commit, unusable: replaces } = setup;
  if (setup.reason !== undefined) return yield* Effect.fail(new NotKeptError(setup.reason));
  if (checkout.openSandboxes > 1)
    return yield* Effect.fail(new NotKeptError("another sandbox is open on the worktree"));
  if (handle.snapshot === undefined)
    return yield* Effect.fail(new NotKeptError("the provider cannot keep the state of a sandbox"));
  const paths = yield* madePaths(session, checkout, setup);
  // A hook's text may quote a secret; the key itself is only a name.
  const hooks = key.hooks.map((hook) => ({ ...hook, command: session.redactor.text(hook.command) }));
  const record: SetupRecord = {
    key: { ...key, hooks },
    commands: hooks.map(({ command }) => command),
    provider: key.provider,
    snapshotName: `${runId}-setup`,
    ...(key.place !== undefined && { place: key.place }),
    runId,
    commit,
    madeAt: new Date().toISOString(),
    owner: ownIdentity(),
    paths,
    files: 0,
    bytes: 0,
    hasHome: false,
  };
  const draft = yield* openDraft(repository, record);
  return yield* fill(session, checkout, handle, draft, record).pipe(
    Effect.flatMap((complete) =>
      publishSetup(
        repository,
        { name, draft, record: complete },
        { replaces, filesDirectory },
        removeSnapshot,
      ),
    ),
    Effect.map((isKept) =>
      isKept
        ? "The result of the hooks is kept: the next sandbox with the same set-up starts from it."
        : "The result of the hooks is not kept, because another run has kept the same set-up meanwhile, or still uses the one to be replaced.",
    ),
    Effect.onError(() =>
      Effect.catch(discardDraft(draft, removeSnapshot), (error) =>
        Effect.sync(() =>
          session.progress.warn(
            `An unfinished kept set-up could not be removed: ${error.message}\nRemove it when this process has ended: ${sandduneCommand("clean")}`,
          ),
        ),
      ),
    ),
  );
});

/** Keeps the result of the first hooks for later sandboxes. No agent has run in this sandbox. Only a lost sandbox is a failure. */
export const keepSetup = (
  session: Session,
  checkout: CheckoutSession,
  handle: SandboxHandle,
  setup: OpenSetup,
): Effect.Effect<void, SandduneError> =>
  timed(
    session,
    {
      phase: "keep the set-up",
      ...(setup.reason === undefined && { label: "Keeping the result of the hooks" }),
    },
    withHostFileErrors(keep(session, checkout, handle, setup)),
  ).pipe(
    Effect.map((sentence) => session.display.note(sentence)),
    Effect.catch((error) => {
      if (error instanceof SandboxLostError) return Effect.fail(error);
      const sentence = `The result of the hooks is not kept: ${messageOf(error)}.`;
      // Otherwise it is the hooks themselves, and every sandbox would come to the same end.
      const isOfThisSandbox = setup.reason !== undefined || checkout.openSandboxes > 1;
      if (!(error instanceof NotKeptError))
        session.progress.warn(`The result of the hooks could not be kept: ${messageOf(error)}`);
      else if (isOfThisSandbox) session.display.note(sentence);
      else
        session.progress.warn(
          `${sentence} They run in every sandbox until you change that, or remove \`cache\` from the hook.`,
        );
      return Effect.void;
    }),
  );

import { existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import * as Effect from "effect/Effect";
import type * as Scope from "effect/Scope";
import type { RunDisplay } from "../display/contract.ts";
import type { SandduneError } from "../errors.ts";
import type { SandboxRepository } from "../git/exportFromSandbox.ts";
import { bringIntoSandbox } from "../git/isolatedCheckout.ts";
import type { NestedRepositories } from "../git/nestedRepositories.ts";
import {
  type Checkout,
  prepareSandboxGitDirectory,
  SANDBOX_GIT_DIRECTORY,
  SANDBOX_HOME,
  SANDBOX_REPOSITORY_PATH,
  sandboxDirectories,
} from "../git/sandboxGitDirectory.ts";
import { openWorktreeFiles, type WorktreeFiles } from "../git/worktreeFiles.ts";
import { hasFilledSubmodules } from "../git/worktreeStatus.ts";
import type { Worktree } from "../git/worktrees.ts";
import { interruptible } from "../process/interruptible.ts";
import type {
  BindMountSandboxProvider,
  IsolatedSandboxProvider,
  SandboxHandle,
  SandboxMount,
} from "../sandboxes/contract.ts";
import { guardedHandle, providerError } from "./guardedHandle.ts";
import type { Journal } from "./journal.ts";
import { type CheckedSandbox, withReadinessCheck } from "./readiness.ts";
import type { RunPlan } from "./runPlan.ts";

export interface SandboxSetup {
  readonly plan: RunPlan;
  readonly journal: Journal;
  readonly checkout: Checkout;
  /** The worktree behind the checkout; there is none with the `head` strategy. */
  readonly worktree: Worktree | undefined;
  /** The user's own repositories inside the checkout. */
  readonly nestedRepositories: NestedRepositories;
  readonly display: RunDisplay;
  readonly warn: (sentence: string) => void;
  /** The tips of all refs of the host, and the commit that the run begins with. */
  readonly knownCommits: readonly string[];
}

/** A sandbox with the repository in it. */
export interface SandboxSession {
  readonly repository: SandboxRepository;
  /** Whether no command has begun in it. */
  readonly isUnused: () => boolean;
  /** Commits that both the host and the sandbox had from the start. */
  readonly sharedCommits: readonly string[];
  /** What could not be brought into the sandbox, in sentences. */
  readonly warnings: readonly string[];
  /** The worktree's files on the host, when the sandbox has files of its own. */
  readonly files?: WorktreeFiles;
  /** Makes the sandbox anew over the same files, for when it was lost; not possible when its files were lost with it. */
  readonly reopen?: Effect.Effect<SandboxRepository, SandduneError, Scope.Scope>;
}

const CLOSE_TIMEOUT_MS = 60_000;

/** Closes a sandbox, and gives up on a provider that does not come to an end. Resolves with what is wrong, if anything is. */
const closeInTime = async (handle: SandboxHandle): Promise<string | undefined> => {
  const timeout = new AbortController();
  try {
    return await Promise.race([
      handle.close().then(
        () => undefined,
        (error: Error) => error.message,
      ),
      delay(CLOSE_TIMEOUT_MS, `The sandbox ${handle.name} did not close within ${CLOSE_TIMEOUT_MS} ms.`, {
        signal: timeout.signal,
      }),
    ]);
  } finally {
    timeout.abort();
  }
};

/** Opens a sandbox and closes it with the scope, also when it came up only after the run was interrupted. */
const openSandbox = Effect.fnUntraced(function* <Handle extends SandboxHandle>(
  setup: SandboxSetup,
  sandboxName: string,
  create: (signal: AbortSignal) => Promise<Handle>,
): Effect.fn.Return<Handle, SandduneError, Scope.Scope> {
  const { journal, plan } = setup;
  let handle: Handle | undefined;
  journal.write({ type: "creating", what: "sandbox", name: sandboxName });
  yield* Effect.addFinalizer(() =>
    Effect.promise(async () => {
      // A sandbox that never came up is not known to be gone: the journal keeps naming it.
      if (handle === undefined) return;
      const endStep = setup.display.step(`Closing the ${plan.sandbox.name} sandbox`);
      const problem = await closeInTime(handle);
      endStep();
      if (problem === undefined) journal.tell({ type: "removed", what: "sandbox", name: sandboxName });
      else setup.warn(problem);
    }),
  );
  return yield* interruptible(
    async (signal) => {
      handle = guardedHandle(await create(signal), plan.sandbox.name);
      return handle;
    },
    providerError(plan.sandbox.name, "it could not be created"),
  );
});

const openBindMount = Effect.fnUntraced(function* (
  setup: SandboxSetup,
  provider: BindMountSandboxProvider,
): Effect.fn.Return<SandboxSession, SandduneError, Scope.Scope> {
  const { plan, journal } = setup;
  const mounts: readonly SandboxMount[] = yield* prepareSandboxGitDirectory({
    filesDirectory: journal.filesDirectory,
    repository: plan.repository,
    checkout: setup.checkout,
    host: plan.host,
    knownCommits: setup.knownCommits,
    nestedRepositories: setup.nestedRepositories,
  });
  const { git: hostGitDirectory } = sandboxDirectories(journal.filesDirectory);
  const open = (sandboxName: string) =>
    openSandbox(setup, sandboxName, (signal) =>
      provider.create({
        runId: plan.runId,
        sandboxName,
        repositoryPath: plan.repository.topLevel,
        worktreePath: SANDBOX_REPOSITORY_PATH,
        homePath: SANDBOX_HOME,
        mounts,
        usesSudo: plan.usesSudo,
        signal,
      }),
    ).pipe(Effect.map((handle) => withReadinessCheck(handle, provider.name, hostGitDirectory)));
  const repositoryIn = ({ handle }: CheckedSandbox): SandboxRepository => ({
    handle,
    gitDirectory: SANDBOX_GIT_DIRECTORY,
    hostGitDirectory,
  });
  const sandbox = yield* open(`sanddune-${plan.runId}`);
  return {
    repository: repositoryIn(sandbox),
    isUnused: sandbox.isUnused,
    sharedCommits: setup.knownCommits,
    warnings: [],
    reopen: open(`sanddune-${plan.runId}-recovery`).pipe(Effect.map(repositoryIn)),
  };
});

const openIsolated = Effect.fnUntraced(function* (
  setup: SandboxSetup,
  provider: IsolatedSandboxProvider,
): Effect.fn.Return<SandboxSession, SandduneError, Scope.Scope> {
  const { plan, journal, worktree } = setup;
  if (worktree === undefined) return yield* Effect.die("an isolated sandbox needs a worktree");
  const sandboxName = `sanddune-${plan.runId}`;
  const targetRef = `refs/heads/${plan.branches.targetBranch}`;
  const targetTip = plan.host.refs.filter(({ name }) => name === targetRef).map(({ sha }) => sha);
  const handle = yield* openSandbox(setup, sandboxName, (signal) =>
    provider.create({
      runId: plan.runId,
      sandboxName,
      repositoryPath: plan.repository.topLevel,
      usesSudo: plan.usesSudo,
      signal,
    }),
  );
  const files = yield* openWorktreeFiles(worktree, join(journal.filesDirectory, "files-index"));
  const warnings = yield* bringIntoSandbox({
    repository: plan.repository,
    worktree,
    targetBranch: plan.branches.targetBranch,
    runId: plan.runId,
    filesDirectory: journal.filesDirectory,
    hostConfig: plan.host.config,
    handle,
    uncommitted: files.uncommitted,
  });
  const hasSubmodules = existsSync(join(worktree.path, ".gitmodules"));
  const losesSubmodules = hasSubmodules && (yield* hasFilledSubmodules(worktree.path));
  return {
    isUnused: () => false,
    sharedCommits: [worktree.baseSha, ...targetTip],
    files,
    warnings: losesSubmodules
      ? [
          ...warnings,
          "Submodules are not brought into an isolated sandbox: their directories are empty there.",
        ]
      : warnings,
    repository: {
      handle,
      gitDirectory: `${handle.worktreePath}/.git`,
      hostGitDirectory: undefined,
    },
  };
});

/** Opens the run's sandbox with the repository in it; it is closed with the scope. */
export const openSandboxSession = (
  setup: SandboxSetup,
): Effect.Effect<SandboxSession, SandduneError, Scope.Scope> => {
  const provider = setup.plan.sandbox;
  return provider.type === "bind-mount" ? openBindMount(setup, provider) : openIsolated(setup, provider);
};

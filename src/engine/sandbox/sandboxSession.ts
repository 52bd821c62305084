import { existsSync } from "node:fs";
import { join } from "node:path";
import * as Effect from "effect/Effect";
import type * as Scope from "effect/Scope";
import { ProcessStartError, SandboxError, type SandduneError } from "../../errors.ts";
import { placeIn } from "../../git/repository.ts";
import { copySandboxDirectories } from "../../git/sandboxDirectory/copySandboxDirectories.ts";
import {
  filesMount,
  prepareSandboxGitDirectory,
  SANDBOX_GIT_DIRECTORY,
  SANDBOX_HOME,
  SANDBOX_REPOSITORY_PATH,
  sandboxDirectories,
} from "../../git/sandboxDirectory/sandboxGitDirectory.ts";
import { gitState } from "../../git/setups/gitState.ts";
import { snapshotOf } from "../../git/setups/keptSetup.ts";
import {
  type CheckedSandbox,
  withPacking,
  withReadinessCheck,
} from "../../git/transfer/export/piggybackOnExec.ts";
import type { SandboxRepository } from "../../git/transfer/sandboxRepository.ts";
import { sendWorktree } from "../../git/transfer/sendWorktree.ts";
import { openWorktreeFiles, type WorktreeFiles } from "../../git/worktrees/worktreeFiles.ts";
import { hasFilledSubmodules } from "../../git/worktrees/worktreeStatus.ts";
import type {
  BindMountSandboxProvider,
  IsolatedSandboxProvider,
  SandboxHandle,
  SandboxMount,
  SandboxProvider,
  SandboxSnapshot,
} from "../../sandboxes/contract.ts";
import type { CheckoutSession } from "../checkout/checkoutSession.ts";
import { noteRefusal, writeOut } from "../checkout/overlay.ts";
import type { LiveEnvironment } from "../environment/liveEnvironment.ts";
import { copiedPackage, copyPackageIn, MOUNTED_PACKAGE } from "../environment/tests/testPackage.ts";
import type { SandboxPlan } from "../plan/plan.ts";
import type { Session } from "../session/session.ts";
import type { OpenSetup } from "../setup/openSetup.ts";
import { isSetupMissing, withoutSetup } from "../setup/restoreSetup.ts";
import { acquireSandbox, type SandboxLoss } from "./acquireSandbox.ts";
import { moveToBranch, openCopiedRepository } from "./copiedRepository.ts";

/** A sandbox on a checkout, with the repository in it. */
export interface SandboxSession {
  readonly type: "sandbox";
  /** The session that created it, and whose directory it uses. */
  readonly owner: Session;
  /** It closes with the call that uses it, as soon as that call does not need it any more. */
  readonly endsWithCall: boolean;
  readonly checkout: CheckoutSession;
  readonly repository: SandboxRepository;
  /** The commit of the source branch in the sandbox, as far as the host knows. */
  tip: string;
  /** All commits that were made in it, including those that were rewritten later. */
  readonly commits: Set<string>;
  /** Commits that both the host and the sandbox had from the start. */
  readonly sharedCommits: readonly string[];
  /** Commits that both have received since. */
  laterCommits: readonly string[];
  /** Checkpoints were taken in it, and one of its refs keeps them. */
  recordsCheckpoints: boolean;
  /** The number of the caller's commands that ran in it. */
  execCount: number;
  /** How many snapshots were taken of it. */
  snapshotCount: number;
  /** Commands have run since the last import. */
  hasNews: boolean;
  /** Whether no command has started in it. */
  readonly isUnused: () => boolean;
  /** Warnings about what could not be copied into the sandbox. */
  readonly warnings: readonly string[];
  /** The path of the test package in the sandbox. */
  readonly packagePath: string | undefined;
  /** Tests of the work in it. */
  environment: LiveEnvironment | undefined;
  /** Set when the sandbox was lost before its work could be imported. */
  readonly loss: SandboxLoss;
  /** The worktree's files on the host, if the sandbox is isolated. */
  readonly files?: WorktreeFiles;
  /** Creates a new sandbox on the same files after this one was lost. Not possible for an isolated sandbox. */
  readonly reopen?: Effect.Effect<SandboxRepository, SandduneError, Scope.Scope>;
}

/** A handle whose commands pack their commits when they end. */
export const packingHandle = (sandbox: SandboxSession): SandboxHandle =>
  withPacking(sandbox.repository, () => sandbox.laterCommits);

/** The sandbox that a new one is a fork of. */
export interface ForkSource {
  readonly parent: SandboxSession;
  readonly snapshot: SandboxSnapshot;
}

/** The input for opening a sandbox. */
interface SandboxSetup<Provider> {
  readonly session: Session;
  readonly checkout: CheckoutSession;
  readonly plan: SandboxPlan<Provider>;
  readonly endsWithCall: boolean;
  /** The path of the test package on the host. */
  readonly packageOnHost: string | undefined;
  /** The first hooks, if they are or may be kept. */
  readonly setup: OpenSetup | undefined;
  readonly fork?: ForkSource;
}

/** The initial state of a sandbox. */
const freshSandbox = ({ session, checkout, endsWithCall }: SandboxSetup<SandboxProvider>) => ({
  type: "sandbox" as const,
  owner: session,
  endsWithCall,
  checkout,
  tip: checkout.tip,
  commits: new Set<string>(),
  laterCommits: [],
  recordsCheckpoints: false,
  execCount: 0,
  snapshotCount: 0,
  hasNews: false,
  environment: undefined,
});

/** An engine may refuse an overlay that this process could mount, for example because it runs in a virtual machine. */
const isMountFailure = (error: SandduneError): boolean =>
  error instanceof ProcessStartError ||
  (error instanceof SandboxError && /mount|overlay|volume/i.test(`${error.problem} ${error.output}`));

const openBindMount = Effect.fnUntraced(function* (
  setup: SandboxSetup<BindMountSandboxProvider>,
): Effect.fn.Return<SandboxSession, SandduneError, Scope.Scope> {
  const { session, checkout } = setup;
  const { journal } = session;
  const { runId, repository, host } = session.plan;
  const { provider, usesSudo } = setup.plan;
  const kept = setup.setup;
  const knownCommits = [...new Set([checkout.tip, ...host.refs.map(({ sha }) => sha)])];
  const { fork } = setup;
  if (fork !== undefined)
    yield* copySandboxDirectories(fork.parent.owner.journal.filesDirectory, journal.filesDirectory);
  const gitMounts = yield* prepareSandboxGitDirectory({
    filesDirectory: journal.filesDirectory,
    repository,
    checkout: { ...checkout, sha: checkout.tip },
    host,
    knownCommits,
    nestedRepositories: checkout.nestedRepositories,
    isCopied: fork !== undefined,
  });
  const packageMounts: readonly SandboxMount[] =
    setup.packageOnHost === undefined
      ? []
      : [{ hostPath: setup.packageOnHost, sandboxPath: MOUNTED_PACKAGE, readOnly: true }];
  const mounts = ({ usesOverlay }: { readonly usesOverlay: boolean }) => [
    ...gitMounts.map((mount) =>
      mount.overlay === undefined
        ? mount
        : filesMount({ path: checkout.path, overlay: usesOverlay ? checkout.overlay : undefined }),
    ),
    ...packageMounts,
  ];
  const { git: hostGitDirectory } = sandboxDirectories(journal.filesDirectory);
  const open = (
    sandboxName: string,
    { usesOverlay = checkout.overlay !== undefined, startsFrom = kept?.taken } = {},
  ) => {
    let opened: CheckedSandbox | undefined;
    const create = (signal: AbortSignal) =>
      provider.create({
        runId,
        sandboxName,
        ...placeIn(repository),
        worktreePath: SANDBOX_REPOSITORY_PATH,
        homePath: SANDBOX_HOME,
        mounts: mounts({ usesOverlay }),
        usesSudo,
        ...(startsFrom && { snapshot: snapshotOf(startsFrom) }),
        ...(fork && { snapshot: fork.snapshot }),
        signal,
      });
    const onSurvival = () => {
      // No command has started in it.
      if (opened?.isUnused()) return;
      checkout.survivor = sandboxName;
      session.keepsFiles = true;
    };
    return acquireSandbox(session, provider, sandboxName, create, { onSurvival }).pipe(
      Effect.map((handle) => {
        opened = withReadinessCheck(handle, provider.name, hostGitDirectory);
        return opened;
      }),
    );
  };
  const repositoryIn = ({ handle }: CheckedSandbox): SandboxRepository => ({
    handle,
    gitDirectory: SANDBOX_GIT_DIRECTORY,
    hostGitDirectory,
  });
  if (kept !== undefined) kept.gitBefore = gitState(hostGitDirectory);
  const sandbox = yield* open(`sanddune-${runId}`).pipe(
    Effect.catchIf(
      (error) => isSetupMissing(kept, error),
      (error) =>
        Effect.andThen(
          withoutSetup(session, checkout, kept, error.message),
          Effect.suspend(() => open(`sanddune-${runId}`)),
        ),
    ),
    Effect.catchIf(
      (error) => checkout.overlay !== undefined && isMountFailure(error),
      (error) => {
        session.progress.checkout = "worktree";
        return writeOut(session, checkout).pipe(
          Effect.andThen(open(`sanddune-${runId}`, { usesOverlay: false })),
          // It was the overlay: without it the sandbox opens.
          Effect.tap(() =>
            Effect.sync(() => {
              noteRefusal(provider);
              session.progress.warn(
                `The sandbox could not mount the overlay of the files, so they were written to the worktree. Later runs with this provider object start with a worktree. The engine said: ${error.message}`,
              );
            }),
          ),
        );
      },
    ),
  );
  if (fork !== undefined) yield* moveToBranch(repositoryIn(sandbox), checkout, provider.name);
  return {
    ...freshSandbox(setup),
    repository: repositoryIn(sandbox),
    loss: { runId, mayHoldWork: false },
    packagePath: setup.packageOnHost && MOUNTED_PACKAGE,
    isUnused: sandbox.isUnused,
    sharedCommits: knownCommits,
    warnings: [],
    // An export needs no files, and the lost sandbox may still have the overlay mounted.
    reopen: open(`sanddune-${runId}-recovery`, { usesOverlay: false, startsFrom: undefined }).pipe(
      Effect.map(repositoryIn),
    ),
  };
});

const openIsolated = Effect.fnUntraced(function* (
  setup: SandboxSetup<IsolatedSandboxProvider>,
): Effect.fn.Return<SandboxSession, SandduneError, Scope.Scope> {
  const { session, checkout } = setup;
  const { journal } = session;
  const { runId, repository, host } = session.plan;
  const { provider, usesSudo } = setup.plan;
  const { fork } = setup;
  const { targetBranch } = checkout.branches;
  if (checkout.worktree === undefined) return yield* Effect.die("an isolated sandbox needs a worktree");
  const worktree = { ...checkout.worktree, baseSha: checkout.tip };
  const sandboxName = `sanddune-${runId}`;
  const loss = { runId, mayHoldWork: false };
  const create = (signal: AbortSignal) =>
    provider.create({
      ...{ runId, sandboxName, ...placeIn(repository), usesSudo, signal },
      ...(fork && { snapshot: fork.snapshot }),
      onPlaced: (place) => journal.write({ type: "placed", what: "sandbox", name: sandboxName, place }),
    });
  const handle = yield* acquireSandbox(session, provider, sandboxName, create, { loss });
  const packagePath = setup.packageOnHost && copiedPackage(handle.worktreePath);
  if (setup.packageOnHost !== undefined && packagePath !== undefined) {
    yield* copyPackageIn(handle, setup.packageOnHost, packagePath);
  }
  const inSandbox: SandboxRepository = {
    handle,
    gitDirectory: `${handle.worktreePath}/.git`,
    hostGitDirectory: undefined,
  };
  if (fork !== undefined) {
    return {
      ...freshSandbox(setup),
      loss,
      packagePath,
      isUnused: () => false,
      ...(yield* openCopiedRepository(session, checkout, inSandbox, {
        parent: fork.parent,
        provider: provider.name,
      })),
      warnings: [],
      repository: inSandbox,
    };
  }
  const files = yield* openWorktreeFiles(worktree, join(journal.filesDirectory, "files-index"));
  const { commits, warnings } = yield* sendWorktree({
    repository,
    worktree,
    targetBranch,
    runId,
    filesDirectory: journal.filesDirectory,
    hostConfig: host.config,
    handle,
    uncommitted: files.uncommitted,
  });
  const hasSubmodules = existsSync(join(worktree.path, ".gitmodules"));
  const losesSubmodules = hasSubmodules && (yield* hasFilledSubmodules(worktree.path));
  return {
    ...freshSandbox(setup),
    loss,
    packagePath,
    isUnused: () => false,
    sharedCommits: commits,
    files,
    warnings: losesSubmodules
      ? [
          ...warnings,
          "Submodules are not copied into an isolated sandbox: their directories are empty there.",
        ]
      : warnings,
    repository: inSandbox,
  };
});

/** Opens a sandbox on the checkout, with the repository in it. The scope closes it. */
export const openSandboxSession = (
  setup: SandboxSetup<SandboxProvider>,
): Effect.Effect<SandboxSession, SandduneError, Scope.Scope> => {
  const { provider } = setup.plan;
  return provider.type === "bind-mount"
    ? openBindMount({ ...setup, plan: { ...setup.plan, provider } })
    : openIsolated({ ...setup, plan: { ...setup.plan, provider } });
};

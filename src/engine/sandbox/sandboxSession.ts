import { existsSync } from "node:fs";
import { join } from "node:path";
import * as Effect from "effect/Effect";
import type * as Scope from "effect/Scope";
import type { SandduneError } from "../../errors.ts";
import { placeIn } from "../../git/repository.ts";
import {
  prepareSandboxGitDirectory,
  SANDBOX_GIT_DIRECTORY,
  SANDBOX_HOME,
  SANDBOX_REPOSITORY_PATH,
  sandboxDirectories,
} from "../../git/sandboxDirectory/sandboxGitDirectory.ts";
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
} from "../../sandboxes/contract.ts";
import type { CheckoutSession } from "../checkout/checkoutSession.ts";
import type { LiveEnvironment } from "../environment/liveEnvironment.ts";
import { copiedPackage, copyPackageIn, MOUNTED_PACKAGE } from "../environment/tests/testPackage.ts";
import type { SandboxPlan } from "../plan/plan.ts";
import type { Session } from "../session/session.ts";
import { acquireSandbox, type SandboxLoss } from "./acquireSandbox.ts";

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
  withPacking(sandbox.repository, () => ({
    sourceBranch: sandbox.checkout.branch,
    laterCommits: sandbox.laterCommits,
  }));

/** The input for opening a sandbox. */
interface SandboxSetup<Provider> {
  readonly session: Session;
  readonly checkout: CheckoutSession;
  readonly plan: SandboxPlan<Provider>;
  readonly endsWithCall: boolean;
  /** The path of the test package on the host. */
  readonly packageOnHost: string | undefined;
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
  hasNews: false,
  environment: undefined,
});

const openBindMount = Effect.fnUntraced(function* (
  setup: SandboxSetup<BindMountSandboxProvider>,
): Effect.fn.Return<SandboxSession, SandduneError, Scope.Scope> {
  const { session, checkout } = setup;
  const { journal } = session;
  const { runId, repository, host } = session.plan;
  const { provider, usesSudo } = setup.plan;
  const knownCommits = [...new Set([checkout.tip, ...host.refs.map(({ sha }) => sha)])];
  const gitMounts = yield* prepareSandboxGitDirectory({
    filesDirectory: journal.filesDirectory,
    repository,
    checkout: { ...checkout, sha: checkout.tip },
    host,
    knownCommits,
    nestedRepositories: checkout.nestedRepositories,
  });
  const mounts: readonly SandboxMount[] = [
    ...gitMounts,
    ...(setup.packageOnHost === undefined
      ? []
      : [{ hostPath: setup.packageOnHost, sandboxPath: MOUNTED_PACKAGE, readOnly: true }]),
  ];
  const { git: hostGitDirectory } = sandboxDirectories(journal.filesDirectory);
  const open = (sandboxName: string) =>
    acquireSandbox(session, provider, sandboxName, (signal) =>
      provider.create({
        runId,
        sandboxName,
        ...placeIn(repository),
        worktreePath: SANDBOX_REPOSITORY_PATH,
        homePath: SANDBOX_HOME,
        mounts,
        usesSudo,
        signal,
      }),
    ).pipe(Effect.map((handle) => withReadinessCheck(handle, provider.name, hostGitDirectory)));
  const repositoryIn = ({ handle }: CheckedSandbox): SandboxRepository => ({
    handle,
    gitDirectory: SANDBOX_GIT_DIRECTORY,
    hostGitDirectory,
  });
  const sandbox = yield* open(`sanddune-${runId}`);
  return {
    ...freshSandbox(setup),
    repository: repositoryIn(sandbox),
    loss: { runId, mayHoldWork: false },
    packagePath: setup.packageOnHost && MOUNTED_PACKAGE,
    isUnused: sandbox.isUnused,
    sharedCommits: knownCommits,
    warnings: [],
    reopen: open(`sanddune-${runId}-recovery`).pipe(Effect.map(repositoryIn)),
  };
});

const openIsolated = Effect.fnUntraced(function* (
  setup: SandboxSetup<IsolatedSandboxProvider>,
): Effect.fn.Return<SandboxSession, SandduneError, Scope.Scope> {
  const { session, checkout } = setup;
  const { journal } = session;
  const { runId, repository, host } = session.plan;
  const { provider, usesSudo } = setup.plan;
  const { targetBranch } = checkout.branches;
  if (checkout.worktree === undefined) return yield* Effect.die("an isolated sandbox needs a worktree");
  const worktree = { ...checkout.worktree, baseSha: checkout.tip };
  const sandboxName = `sanddune-${runId}`;
  const loss = { runId, mayHoldWork: false };
  const create = (signal: AbortSignal) =>
    provider.create({
      ...{ runId, sandboxName, ...placeIn(repository), usesSudo, signal },
      onPlaced: (place) => journal.write({ type: "placed", what: "sandbox", name: sandboxName, place }),
    });
  const handle = yield* acquireSandbox(session, provider, sandboxName, create, loss);
  const packagePath = setup.packageOnHost && copiedPackage(handle.worktreePath);
  if (setup.packageOnHost !== undefined && packagePath !== undefined) {
    yield* copyPackageIn(handle, setup.packageOnHost, packagePath);
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
    repository: {
      handle,
      gitDirectory: `${handle.worktreePath}/.git`,
      hostGitDirectory: undefined,
    },
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

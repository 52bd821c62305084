import { mkdirSync, mkdtempSync, renameSync } from "node:fs";
import { join, posix } from "node:path";
import * as Effect from "effect/Effect";
import type * as Scope from "effect/Scope";
import { runAtBoundary } from "../../../boundary/boundary.ts";
import { interruptible } from "../../../boundary/interruptible.ts";
import { CopyToWorktreeError, type SandduneError } from "../../../errors.ts";
import { placeIn, type Repository } from "../../../git/repository.ts";
import { SANDBOX_HOME, SANDBOX_REPOSITORY_PATH } from "../../../git/sandboxDirectory/sandboxGitDirectory.ts";
import { copyToWorktree } from "../../../git/worktrees/copyToWorktree.ts";
import { removeDirectory } from "../../../process/removeDirectory.ts";
import type {
  BindMountSandboxProvider,
  IsolatedSandboxProvider,
  SandboxHandle,
} from "../../../sandboxes/contract.ts";
import type { CopiedItems } from "../../checkout/checkoutSession.ts";
import { runHooksIn } from "../../hooks/setupHooks.ts";
import { acquireSandbox } from "../../sandbox/acquireSandbox.ts";
import type { Session } from "../../session/session.ts";
import type { EnvironmentSetup } from "../liveEnvironment.ts";
import type { TestsInSandbox } from "./prepareTests.ts";
import { copiedPackage, copyPackageIn, MOUNTED_PACKAGE } from "./testPackage.ts";

/** A sandbox without an agent, for tests and the work to test. */
export interface TestSandbox {
  readonly handle: SandboxHandle;
  readonly packagePath: string;
  /** The directory in it for everything else. */
  readonly root: string;
  /** Copies or moves a file into `root`. */
  readonly copyIn: (hostPath: string, sandboxPath: string) => Promise<void>;
  /** Copies the files of `copyToWorktree` into a directory of the sandbox. */
  readonly copyItems: (
    repository: Repository,
    copied: CopiedItems,
    tree: string,
  ) => Effect.Effect<void, SandduneError>;
}

interface SandboxNames {
  readonly runId: string;
  readonly sandboxName: string;
  readonly repositoryPath: string;
  readonly cwd: string;
  readonly usesSudo: boolean;
}

/**
 * Copies items to a directory that the sandbox cannot reach, and renames it to `destination`, which it can reach.
 * Tested code that still runs could put a link at the destination, and renaming does not follow links.
 */
const copyItemsInto = Effect.fnUntraced(function* (
  repository: Repository,
  { items, timeoutMs }: CopiedItems,
  directory: string,
  destination: string,
): Effect.fn.Return<void, SandduneError> {
  if (items.length === 0) return;
  const gitDirectory = mkdtempSync(join(directory, "items-"));
  const path = join(gitDirectory, "tree");
  mkdirSync(path);
  yield* copyToWorktree(repository, { path, gitDirectory }, items, timeoutMs);
  yield* Effect.try({
    try: () => renameSync(path, destination),
    catch: (cause) =>
      new CopyToWorktreeError(items.join(", "), "a file in the test sandbox is in the way", {
        cause,
      }),
  });
});

const openBindMount = Effect.fnUntraced(function* (
  session: Session,
  provider: BindMountSandboxProvider,
  names: SandboxNames,
  packageOnHost: string,
): Effect.fn.Return<TestSandbox, SandduneError, Scope.Scope> {
  const directory = join(session.journal.filesDirectory, names.sandboxName);
  const [root, home] = [join(directory, "root"), join(directory, "home")];
  for (const path of [root, home]) mkdirSync(path, { recursive: true });
  // Removed at once, because a run may have many test sandboxes. If that fails, the session tries again and reports
  // it.
  yield* Effect.addFinalizer(() => Effect.promise(() => removeDirectory(directory).catch(() => {})));
  const handle = yield* acquireSandbox(session, provider, names.sandboxName, (signal) =>
    provider.create({
      ...{ ...names, signal, worktreePath: SANDBOX_REPOSITORY_PATH, homePath: SANDBOX_HOME },
      mounts: [
        { hostPath: root, sandboxPath: SANDBOX_REPOSITORY_PATH, readOnly: false },
        { hostPath: home, sandboxPath: SANDBOX_HOME, readOnly: false },
        { hostPath: packageOnHost, sandboxPath: MOUNTED_PACKAGE, readOnly: true },
      ],
    }),
  );
  return {
    handle,
    packagePath: MOUNTED_PACKAGE,
    root: SANDBOX_REPOSITORY_PATH,
    // Renaming does not follow links.
    copyIn: async (hostPath, sandboxPath) => renameSync(hostPath, join(root, posix.basename(sandboxPath))),
    copyItems: (repository, copied, tree) =>
      copyItemsInto(repository, copied, directory, join(root, posix.basename(tree))),
  };
});

const openIsolated = Effect.fnUntraced(function* (
  session: Session,
  provider: IsolatedSandboxProvider,
  names: SandboxNames,
  packageOnHost: string,
): Effect.fn.Return<TestSandbox, SandduneError, Scope.Scope> {
  const { journal } = session;
  const { sandboxName } = names;
  const handle = yield* acquireSandbox(session, provider, sandboxName, (signal) =>
    provider.create({
      ...{ ...names, signal },
      onPlaced: (place) => journal.write({ type: "placed", what: "sandbox", name: sandboxName, place }),
    }),
  );
  const packagePath = copiedPackage(handle.worktreePath);
  yield* copyPackageIn(handle, packageOnHost, packagePath);
  return {
    handle,
    packagePath,
    root: posix.join(posix.dirname(handle.worktreePath), "sanddune-tests"),
    copyIn: (hostPath, sandboxPath) => handle.copyIn(hostPath, sandboxPath),
    copyItems: ({ topLevel, prefix }, { items }, tree) =>
      Effect.forEach(
        items,
        (item) =>
          interruptible(() => handle.copyIn(join(topLevel, prefix, item), posix.join(tree, prefix, item))),
        { discard: true },
      ),
  };
});

/** Prepares the tested work like the agent's sandbox: copies the user's files, and runs the hooks. */
const preparationOf = (
  { session, sandbox: { checkout }, sandboxPlan }: EnvironmentSetup,
  tests: TestSandbox,
): Pick<TestsInSandbox, "copyUserFiles" | "runHooks"> => {
  const { repository, copied } = checkout;
  const hooks = sandboxPlan.hooks["sandbox.onSandboxReady"];
  return {
    copyUserFiles: (tree, signal) => runAtBoundary(tests.copyItems(repository, copied, tree), signal),
    ...(hooks.length > 0 && {
      runHooks: (tree: string, signal: AbortSignal) =>
        runAtBoundary(
          runHooksIn(session, tests.handle, posix.join(tree, repository.prefix, "."), hooks),
          signal,
        ),
    }),
  };
};

/** Creates a sandbox for tests like the agent's. The scope closes it. `label` is part of its name. */
export const openTestSandbox = Effect.fnUntraced(function* (
  setup: EnvironmentSetup,
  label: string,
): Effect.fn.Return<TestsInSandbox, SandduneError, Scope.Scope> {
  const { session, files } = setup;
  const { provider, usesSudo } = setup.sandboxPlan;
  const { runId, repository, env } = session.plan;
  const names = {
    ...{ runId, sandboxName: `sanddune-${runId}-${label}`, usesSudo },
    ...placeIn(repository),
  };
  const sandbox = yield* provider.type === "bind-mount"
    ? openBindMount(session, provider, names, files.forTests)
    : openIsolated(session, provider, names, files.forTests);
  return { sandbox, env: env.values, prefix: repository.prefix, ...preparationOf(setup, sandbox) };
});

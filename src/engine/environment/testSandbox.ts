import { mkdirSync } from "node:fs";
import { join, posix } from "node:path";
import * as Effect from "effect/Effect";
import type * as Scope from "effect/Scope";
import type { SandduneError } from "../../errors.ts";
import { SANDBOX_HOME, SANDBOX_REPOSITORY_PATH } from "../../git/sandboxGitDirectory.ts";
import type {
  BindMountSandboxProvider,
  IsolatedSandboxProvider,
  SandboxHandle,
  SandboxProvider,
} from "../../sandboxes/contract.ts";
import { acquireSandbox } from "../acquireSandbox.ts";
import type { Session } from "../session.ts";
import { bringPackage, copiedPackage, MOUNTED_PACKAGE } from "./package.ts";

/** A sandbox in which no agent works: it has tests, and gets what they are to test. */
export interface TestSandbox {
  readonly handle: SandboxHandle;
  readonly packagePath: string;
  /** A directory in it for everything else. */
  readonly root: string;
  readonly copyIn: (hostPath: string, sandboxPath: string) => Promise<void>;
}

const openBindMount = Effect.fnUntraced(function* (
  session: Session,
  provider: BindMountSandboxProvider,
  names: SandboxNames,
  packageOnHost: string,
): Effect.fn.Return<TestSandbox, SandduneError, Scope.Scope> {
  const directory = join(session.journal.filesDirectory, names.sandboxName);
  const [root, home] = [join(directory, "root"), join(directory, "home")];
  for (const path of [root, home]) mkdirSync(path, { recursive: true });
  const handle = yield* acquireSandbox(session, provider.name, names.sandboxName, (signal) =>
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
    copyIn: (hostPath, sandboxPath) => handle.copyFileIn(hostPath, sandboxPath),
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
  const handle = yield* acquireSandbox(session, provider.name, sandboxName, (signal) =>
    provider.create({
      ...{ ...names, signal },
      onPlaced: (place) => journal.write({ type: "placed", what: "sandbox", name: sandboxName, place }),
    }),
  );
  const packagePath = copiedPackage(handle.worktreePath);
  yield* bringPackage(handle, packageOnHost, packagePath);
  return {
    handle,
    packagePath,
    root: posix.join(posix.dirname(handle.worktreePath), "sanddune-tests"),
    copyIn: (hostPath, sandboxPath) => handle.copyIn(hostPath, sandboxPath),
  };
});

interface SandboxNames {
  readonly runId: string;
  readonly sandboxName: string;
  readonly repositoryPath: string;
}

/** Makes a sandbox for tests, of the same kind as the agent's; it is closed with the scope. `label` tells it from others. */
export const openTestSandbox = (
  session: Session,
  provider: SandboxProvider,
  packageOnHost: string,
  label: string,
): Effect.Effect<TestSandbox, SandduneError, Scope.Scope> => {
  const { runId, repository } = session.plan;
  const names = { runId, sandboxName: `sanddune-${runId}-${label}`, repositoryPath: repository.topLevel };
  return provider.type === "bind-mount"
    ? openBindMount(session, provider, names, packageOnHost)
    : openIsolated(session, provider, names, packageOnHost);
};

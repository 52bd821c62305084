import { randomBytes } from "node:crypto";
import { chown, mkdir, mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type {
  BindMountCreateOptions,
  BindMountSandboxHandle,
  BindMountSandboxProvider,
  IsolatedSandboxHandle,
  IsolatedSandboxProvider,
  SandboxCreateOptions,
} from "../../src/sandboxes/contract.ts";
import { RUN_ID } from "../helpers/repository/runId.ts";

export const WORKTREE_PATH = "/sanddune/repo";
export const HOME_PATH = "/sanddune/home";

export const newSandboxName = (): string => `sanddune-test-${RUN_ID}-${randomBytes(6).toString("hex")}`;

export interface OpenBindMount {
  readonly sandbox: BindMountSandboxHandle;
  /** The host directory that is the sandbox's worktree. */
  readonly worktree: string;
  readonly repository: string;
}

/** A sandbox over a worktree and a home in a temporary directory, which `close` removes. */
export const openBindMount = async (
  provider: BindMountSandboxProvider,
  options: Partial<BindMountCreateOptions> & { readonly owner?: number } = {},
): Promise<OpenBindMount> => {
  const directory = await realpath(await mkdtemp(join(tmpdir(), "sanddune-sandbox-test-")));
  const [worktree, home, repository] = ["worktree", "home", "repository"].map((name) =>
    join(directory, name),
  ) as [string, string, string];
  const removeDirectory = () => rm(directory, { recursive: true, force: true });
  const { owner, ...overrides } = options;
  try {
    for (const path of [worktree, home, repository]) {
      await mkdir(path);
      if (owner !== undefined) await chown(path, owner, owner);
    }
    const handle = await provider.create({
      runId: "test-run",
      sandboxName: newSandboxName(),
      repositoryPath: repository,
      worktreePath: WORKTREE_PATH,
      homePath: HOME_PATH,
      mounts: [
        { hostPath: worktree, sandboxPath: WORKTREE_PATH, readOnly: false },
        { hostPath: home, sandboxPath: HOME_PATH, readOnly: false },
      ],
      ...overrides,
    });
    const close = async () => {
      await handle.close();
      await removeDirectory();
    };
    return { sandbox: { ...handle, close }, worktree, repository };
  } catch (error) {
    await removeDirectory();
    throw error;
  }
};

export const openIsolated = (
  provider: IsolatedSandboxProvider,
  options: Pick<SandboxCreateOptions, "snapshot"> = {},
): Promise<IsolatedSandboxHandle> =>
  provider.create({ runId: "test-run", sandboxName: newSandboxName(), repositoryPath: tmpdir(), ...options });

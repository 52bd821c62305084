import { randomBytes } from "node:crypto";
import { lstat, mkdir, mkdtemp, realpath } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { removeDirectory } from "../process/removeDirectory.ts";
import type { BindMountSandboxHandle, BindMountSandboxProvider } from "../sandboxes/contract.ts";
import { openHandle } from "../sandboxes/handle/openHandle.ts";
import { findProvider } from "../sandboxes/registry.ts";
import { type Finding, failed, ok } from "./finding.ts";

const WORKTREE = "/sanddune-doctor/worktree";
const HOME = "/sanddune-doctor/home";
const FILE = "made-in-the-sandbox";

/** Opens a real sandbox over an empty directory for `use`. */
export const withProbe = async <Result>(
  provider: BindMountSandboxProvider,
  { repositoryPath, signal }: { readonly repositoryPath: string; readonly signal?: AbortSignal | undefined },
  use: (handle: BindMountSandboxHandle, directory: string) => Promise<Result>,
): Promise<Result> => {
  const directory = await mkdtemp(join(await realpath(tmpdir()), "sanddune-doctor-"));
  const runId = `doctor-${randomBytes(4).toString("hex")}`;
  const mounts = [
    { hostPath: join(directory, "worktree"), sandboxPath: WORKTREE, readOnly: false },
    { hostPath: join(directory, "home"), sandboxPath: HOME, readOnly: false },
  ];
  try {
    for (const { hostPath } of mounts) await mkdir(hostPath);
    const create = () =>
      provider.create({
        ...{ runId, sandboxName: `sanddune-${runId}`, repositoryPath },
        ...{ worktreePath: WORKTREE, homePath: HOME, mounts },
        ...(signal && { signal }),
      });
    const handle = await openHandle(provider, create, signal);
    try {
      return await use(handle, join(directory, "worktree"));
    } finally {
      await handle.close();
    }
  } finally {
    await removeDirectory(directory);
  }
};

/** Checks that files made in the sandbox belong to the user. */
export const checkOwner = async (
  handle: BindMountSandboxHandle,
  directory: string,
  sandbox: string,
): Promise<Finding> => {
  const title = `files made in ${sandbox}`;
  const { exitCode, stderr } = await handle.exec(`true > ${FILE}`);
  if (exitCode !== 0) {
    return failed(
      title,
      `no file can be made (${stderr.trim()})`,
      "Let the image's programs be usable by every user.",
    );
  }
  const { uid } = await lstat(join(directory, FILE));
  const own = process.getuid?.();
  if (own === undefined || uid === own) return ok(title, "belong to you");
  return failed(
    title,
    `belong to uid ${uid}, and you are ${own}`,
    findProvider(sandbox)?.doctor?.ownerFix ?? "Let the sandbox run commands as your own user.",
  );
};

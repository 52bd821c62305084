import { SandboxError } from "../../errors.ts";
import type { IsolatedSandboxHandle, SandboxCreateOptions } from "../contract.ts";
import { isolatedCommandSandbox } from "../exec/commandSandbox.ts";
import { endInTime, LastCall } from "../exec/deadlineWarning.ts";
import { killInSandbox } from "../exec/killInSandbox.ts";
import type { LaunchOptions } from "../exec/sandboxAccess.ts";
import { NO_ROOT } from "../handle/noRoot.ts";
import { makeWorktree } from "../services/makeWorktree.ts";
import { MODAL, modalError } from "./client.ts";
import type { ModalConnection } from "./connection.ts";
import { diagnoseModal, LIVE_LONGER } from "./diagnosis.ts";
import { modalExec } from "./exec.ts";
import { modalHeartbeat } from "./heartbeat.ts";
import type { ModalSettings } from "./options.ts";
import { startModalSandbox } from "./startSandbox.ts";
import { terminateModalSandbox } from "./terminate.ts";

/** For what is no command of anybody's, but a question of ours. */
const QUESTION_TIMEOUT_MS = 60_000;

/** Makes a sandbox at Modal, and the handle to work in it. The connection is closed with it. */
export const createModalSandbox = async (
  connection: ModalConnection,
  settings: ModalSettings,
  options: SandboxCreateOptions,
): Promise<IsolatedSandboxHandle> => {
  const { lifetimeMs, requestTimeoutMs } = settings;
  const { sandboxName, signal } = options;
  const started = startModalSandbox(connection.client, settings, options);
  const { sandbox, endsAtMs: atMs } = await started.catch((error: unknown) => {
    connection.close();
    throw error;
  });
  const end = () => terminateModalSandbox(sandbox, requestTimeoutMs).finally(() => connection.close());
  const { heartbeat, heed } = modalHeartbeat(sandbox, lifetimeMs);
  let hasRoot = true;
  const launch = (argv: readonly string[], { sudo, execId }: LaunchOptions) => {
    if (sudo && !hasRoot) throw new SandboxError(MODAL, NO_ROOT);
    const leftMs = Math.ceil(Math.max(1, atMs - Date.now()) / 1000) * 1000;
    return heed(
      modalExec(sandbox, argv, {
        timeoutMs: execId === undefined ? QUESTION_TIMEOUT_MS : leftMs,
        startTimeoutMs: requestTimeoutMs,
      }),
    );
  };
  try {
    signal?.throwIfAborted();
    const { worktreePath, home, isRoot } = await makeWorktree(launch, { signal });
    hasRoot = isRoot;
    const handle = isolatedCommandSandbox({
      provider: MODAL,
      name: sandboxName,
      worktreePath,
      fallbackHome: home,
      isRemote: true,
      hasTerminal: false,
      launch,
      // Modal has processes of its own in the sandbox.
      kill: killInSandbox(launch, { ownsProcessNamespace: false }),
      diagnose: () => diagnoseModal(sandbox, lifetimeMs),
      heartbeat,
      close: end,
    });
    return endInTime(handle, new LastCall({ provider: MODAL, atMs, lifetimeMs, hint: LIVE_LONGER }));
  } catch (error) {
    await end().catch(() => {});
    signal?.throwIfAborted();
    throw modalError("it could not be made ready", error);
  }
};

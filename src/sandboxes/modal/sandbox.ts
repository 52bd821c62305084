import { SandboxError } from "../../errors.ts";
import type { IsolatedSandboxHandle, SandboxCreateOptions, SnapshotOptions } from "../contract.ts";
import { DeadlineWarning } from "../exec/deadlineWarning.ts";
import type { LaunchOptions } from "../exec/sandboxAccess.ts";
import { NO_ROOT } from "../handle/noRoot.ts";
import { serviceHandle } from "../services/serviceHandle.ts";
import { MODAL, secrets } from "./client.ts";
import type { ModalConnection } from "./connection.ts";
import { diagnoseModal, LIVE_LONGER } from "./diagnosis.ts";
import { modalExec } from "./exec.ts";
import { modalHeartbeat } from "./heartbeat.ts";
import type { ModalSettings } from "./options.ts";
import { keepModalImage } from "./snapshot.ts";
import { startModalSandbox } from "./startSandbox.ts";
import { terminateModalSandbox } from "./terminate.ts";

/** For sanddune's own questions, which are not commands. */
const QUESTION_TIMEOUT_MS = 60_000;

/** Makes a sandbox at Modal, and the handle to work in it. The connection is closed with it. */
export const createModalSandbox = async (
  connection: ModalConnection,
  settings: ModalSettings,
  options: SandboxCreateOptions,
): Promise<IsolatedSandboxHandle> => {
  const { lifetimeMs, requestTimeoutMs } = settings;
  const started = startModalSandbox(connection.client, settings, options);
  const { sandbox, endsAtMs: atMs } = await started.catch((error: unknown) => {
    connection.close();
    throw error;
  });
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
  const sandboxOfModal = {
    provider: MODAL,
    launch,
    onWorktree: ({ isRoot }: { readonly isRoot: boolean }) => {
      hasRoot = isRoot;
    },
    diagnose: () => diagnoseModal(sandbox, lifetimeMs),
    heartbeat,
    keep: (taken: SnapshotOptions) => keepModalImage(sandbox, connection.client, taken),
    close: () => terminateModalSandbox(sandbox, requestTimeoutMs).finally(() => connection.close()),
    deadlineWarning: new DeadlineWarning({ provider: MODAL, atMs, lifetimeMs, hint: LIVE_LONGER }),
    secrets: secrets(),
  };
  return serviceHandle(sandboxOfModal, options);
};

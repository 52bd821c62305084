import { createIsolatedSandboxProvider, type IsolatedSandboxProvider } from "./contract.ts";
import { askModal, connectToModal, MODAL, requireModal } from "./modal/client.ts";
import { type ModalOptions, modalSettings } from "./modal/options.ts";
import { writeModalPlace } from "./modal/place.ts";
import { createModalSandbox } from "./modal/sandbox.ts";
import { removeModalSnapshot } from "./modal/snapshot.ts";

export type { CloudNetwork } from "./services/serviceOptions.ts";
export type { ModalOptions };

/**
 * Sandboxes of Modal's cloud. They have files of their own: the repository is copied in, and commits are copied out. Needs
 * the package `modal@^0.11.1`, and the credentials MODAL_TOKEN_ID and MODAL_TOKEN_SECRET.
 *
 * A sandbox ends when its lifetime is over, even if it is in use: Modal cannot extend it.
 *
 * @example
 * await run({ agent, sandbox: modal({ imageName: "node:22", memory: "4g" }), prompt: "Fix issue 7" });
 */
export const modal = (options: ModalOptions = {}): IsolatedSandboxProvider => {
  const settings = modalSettings(options);
  return createIsolatedSandboxProvider({
    name: MODAL,
    ...(options.env && { env: options.env }),
    capabilities: { terminal: false, extension: false },
    preflight: ({ signal }) =>
      askModal((client) =>
        requireModal(client, settings.app, { timeoutMs: settings.requestTimeoutMs, signal }),
      ),
    removeSnapshot: (snapshot) => removeModalSnapshot(snapshot, settings.requestTimeoutMs),
    create: async (createOptions) => {
      createOptions.signal?.throwIfAborted();
      const connection = await connectToModal();
      createOptions.onPlaced?.(writeModalPlace(connection.client, settings));
      return createModalSandbox(connection, settings, createOptions);
    },
  });
};

import type { ModalClient } from "modal";
import { createIsolatedSandboxProvider, type IsolatedSandboxProvider } from "./contract.ts";
import { connectToModal, MODAL, requireModal } from "./modalClient.ts";
import { type ModalOptions, modalSettings } from "./modalOptions.ts";
import { writeModalPlace } from "./modalPlace.ts";
import { createModalSandbox } from "./modalSandbox.ts";

export type { CloudNetwork } from "./cloudOptions.ts";
export type { ModalOptions };

/**
 * Sandboxes of Modal's cloud. They have files of their own: the repository is copied in, and commits are copied out. Needs
 * the package `modal@^0.11.1`, and the credentials MODAL_TOKEN_ID and MODAL_TOKEN_SECRET.
 *
 * A sandbox ends when its lifetime is over, whatever runs in it: Modal cannot put that off.
 *
 * @example
 * await run({ agent, sandbox: modal({ imageName: "node:22", memory: "4g" }), prompt: "Fix issue 7" });
 */
export const modal = (options: ModalOptions = {}): IsolatedSandboxProvider => {
  const settings = modalSettings(options);
  let connecting: Promise<ModalClient> | undefined;
  const connect = (): Promise<ModalClient> => {
    connecting ??= connectToModal().catch((error: unknown) => {
      connecting = undefined;
      throw error;
    });
    return connecting;
  };
  return createIsolatedSandboxProvider({
    name: MODAL,
    ...(options.env && { env: options.env }),
    capabilities: { terminal: false, extension: false },
    preflight: async ({ signal }) => requireModal(await connect(), settings.app, signal),
    create: async (createOptions) => {
      createOptions.signal?.throwIfAborted();
      const client = await connect();
      createOptions.onPlaced?.(writeModalPlace(client, settings));
      return createModalSandbox(client, settings, createOptions);
    },
  });
};

import { afterAll, beforeAll, onTestFinished, vi } from "vitest";
import type { IsolatedSandboxHandle } from "../../../src/sandboxes/contract.ts";
import { type ModalOptions, modal } from "../../../src/sandboxes/modal.ts";
import { type ModalServer, type ServedSandbox, startModalServer } from "../../helpers/cloud/modalServer.ts";
import { newSandboxName } from "../openSandbox.ts";

/** A server for the test that asks for it, which is where the SDK goes from now on. */
export const modalServer = async (
  options: Parameters<typeof startModalServer>[0] = {},
): Promise<ModalServer> => {
  const server = await startModalServer(options);
  for (const [name, value] of Object.entries(server.env)) vi.stubEnv(name, value);
  onTestFinished(async () => {
    vi.unstubAllEnvs();
    await server.close();
  });
  return server;
};

/** One server for all tests of a file that ask nothing unusual of it. */
export const sharedModalServer = (): (() => ModalServer) => {
  let server: ModalServer | undefined;
  beforeAll(async () => {
    server = await startModalServer();
    for (const [name, value] of Object.entries(server.env)) vi.stubEnv(name, value);
  });
  afterAll(async () => {
    vi.unstubAllEnvs();
    await server?.close();
  });
  return () => server as ModalServer;
};

export interface OpenModal {
  readonly sandbox: IsolatedSandboxHandle;
  readonly served: ServedSandbox;
}

/** A sandbox of that server, closed after the test. */
export const openModal = async (server: ModalServer, options: ModalOptions = {}): Promise<OpenModal> => {
  const sandbox = await modal(options).create({
    runId: "test-run",
    sandboxName: newSandboxName(),
    repositoryPath: "/",
  });
  onTestFinished(() => sandbox.close().catch(() => {}));
  return { sandbox, served: server.sandboxes.at(-1) as ServedSandbox };
};

import type { App, ModalClient, Sandbox } from "modal";
import { SandboxError } from "../errors.ts";
import { type CloudPlace, lookInAccount } from "./cloudAccount.ts";
import { inTime } from "./inTime.ts";
import type { LeftSandbox, SandboxLeftovers } from "./leftovers.ts";
import { connectToModal, isNotFound, MODAL, modalError } from "./modalClient.ts";
import { modalAccount, readModalPlace } from "./modalPlace.ts";
import { findTagged, terminateModalSandbox } from "./modalTerminate.ts";

const APP_TIMEOUT_MS = 20_000;

const elsewhere = ({ account }: CloudPlace): SandboxError => {
  const environment = account["environment"] || undefined;
  const remedy =
    environment === undefined ? "unset MODAL_ENVIRONMENT" : `set MODAL_ENVIRONMENT=${environment}`;
  return new SandboxError(
    MODAL,
    `it was made with another Modal account, or in another environment; ${remedy}, and MODAL_TOKEN_ID and MODAL_TOKEN_SECRET as they were then`,
  );
};

const openApp = async (client: ModalClient, name: string): Promise<App | undefined> =>
  inTime(client.apps.fromName(name), { timeoutMs: APP_TIMEOUT_MS }).catch((error: unknown) => {
    if (isNotFound(error)) return undefined;
    throw error;
  });

/** The sandboxes that are marked as that one, in the app in which it was made. There should be one at most. */
const findSandboxes = async (sandbox: LeftSandbox): Promise<readonly Sandbox[]> => {
  // Before anything is made it is said where: a sandbox without a place was never made.
  const place = readModalPlace(sandbox);
  if (place === undefined) return [];
  const client = await connectToModal();
  const look = async () => {
    const app = await openApp(client, place.app);
    const found = app === undefined ? [] : await findTagged(client, app, sandbox);
    return found.length === 0 ? undefined : found;
  };
  return (await lookInAccount(place.account, modalAccount(client), look, elsewhere)) ?? [];
};

const saying = async <A>(problem: string, ask: () => Promise<A>): Promise<A> =>
  ask().catch((error: unknown) => {
    throw modalError(problem, error);
  });

/** Sandboxes of dead runs at Modal, by their tags. */
export const modalLeftovers: SandboxLeftovers = {
  holdsWork: true,
  find: (sandbox) =>
    saying(`it cannot be asked about ${sandbox.sandboxName}`, async () => {
      const [found] = await findSandboxes(sandbox);
      return found && `modal sandbox ${found.sandboxId}`;
    }),
  remove: (sandbox) =>
    saying(`${sandbox.sandboxName} could not be terminated`, async () => {
      for (const found of await findSandboxes(sandbox)) await terminateModalSandbox(found);
    }),
};

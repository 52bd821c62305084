import type { App, ModalClient, Sandbox } from "modal";
import { SandboxError } from "../../errors.ts";
import { inTime, type Patience } from "../../tools/wait/timeLimit.ts";
import type { LeftSandbox, SandboxLeftovers } from "../leftovers.ts";
import { type CloudPlace, lookInAccount } from "../services/account.ts";
import { REQUEST_TIMEOUT_MS } from "../services/serviceLimits.ts";
import { askModal, isNotFound, MODAL, modalError } from "./client.ts";
import { type ModalPlace, modalAccount, readModalPlace } from "./place.ts";
import { findTagged, terminateModalSandbox } from "./terminate.ts";

const elsewhere = ({ account }: CloudPlace): SandboxError => {
  const environment = account["environment"] || undefined;
  const remedy =
    environment === undefined ? "unset MODAL_ENVIRONMENT" : `set MODAL_ENVIRONMENT=${environment}`;
  return new SandboxError(
    MODAL,
    `it was made with another Modal account, or in another environment; ${remedy}, and MODAL_TOKEN_ID and MODAL_TOKEN_SECRET as they were then`,
  );
};

const openApp = async (client: ModalClient, name: string, patience: Patience): Promise<App | undefined> =>
  inTime(() => client.apps.fromName(name), patience).catch((error: unknown) => {
    if (isNotFound(error)) return undefined;
    throw error;
  });

/** The sandboxes with its tags, in the app in which it was made. There should be one at most. */
const findSandboxes = async (
  client: ModalClient,
  place: ModalPlace,
  sandbox: LeftSandbox,
  signal?: AbortSignal,
): Promise<readonly Sandbox[]> => {
  const patience = { timeoutMs: REQUEST_TIMEOUT_MS, signal };
  const look = async () => {
    const app = await openApp(client, place.app, patience);
    const found = app === undefined ? [] : await findTagged(client, app, sandbox, patience);
    return found.length === 0 ? undefined : found;
  };
  return (await lookInAccount(place.account, modalAccount(client), look, elsewhere)) ?? [];
};

/** Uses the sandboxes with its tags. */
const withFound = async <A>(
  sandbox: LeftSandbox,
  problem: string,
  use: (found: readonly Sandbox[]) => Promise<A> | A,
  signal?: AbortSignal,
): Promise<A> => {
  // The place is written before the sandbox is made: without a place, there never was one.
  const place = readModalPlace(sandbox);
  if (place === undefined) return use([]);
  return askModal(async (client) => {
    try {
      return await use(await findSandboxes(client, place, sandbox, signal));
    } catch (error) {
      signal?.throwIfAborted();
      throw modalError(problem, error);
    }
  });
};

/** Sandboxes of dead runs at Modal, by their tags. */
export const modalLeftovers: SandboxLeftovers = {
  holdsWork: true,
  find: (sandbox, signal) => {
    const problem = `${sandbox.sandboxName} could not be looked up`;
    return withFound(sandbox, problem, ([found]) => found && `modal sandbox ${found.sandboxId}`, signal);
  },
  remove: (sandbox) =>
    withFound(sandbox, `${sandbox.sandboxName} could not be terminated`, async (found) => {
      for (const one of found) await terminateModalSandbox(one, REQUEST_TIMEOUT_MS);
    }),
};

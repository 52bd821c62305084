import type { ModalClient } from "modal";
import type { LeftSandbox } from "../leftovers.ts";
import {
  type CloudAccount,
  type CloudPlace,
  fingerprintOf,
  readCloudPlace,
  writeCloudPlace,
} from "../services/account.ts";
import { MODAL } from "./client.ts";
import { APP_NAME, type ModalSettings } from "./options.ts";

/** Where a sandbox is at Modal. */
export interface ModalPlace {
  readonly app: string;
  /** Not known of a sandbox whose journal names the app only. */
  readonly account?: CloudPlace;
}

/** Where a client's sandboxes are made, its app apart. Modal does not say whose a token is. */
export const modalAccount = ({ profile }: ModalClient): CloudAccount => ({
  environment: profile.environment ?? "",
  token: fingerprintOf(profile.tokenId ?? profile.oauthClientId ?? ""),
});

export const writeModalPlace = (client: ModalClient, { app, lifetimeMs }: ModalSettings): string =>
  writeCloudPlace({ app, ...modalAccount(client) }, lifetimeMs);

/** Reads that again. `undefined` if there is nothing to read; throws if it is something else. */
export const readModalPlace = (sandbox: LeftSandbox): ModalPlace | undefined => {
  if (sandbox.place === undefined) return undefined;
  if (APP_NAME.test(sandbox.place)) return { app: sandbox.place };
  const known = readCloudPlace(MODAL, sandbox, ["app", "environment", "token"]);
  const { app = "", ...account } = known?.account ?? {};
  return { app, ...(known && { account: { ...known, account } }) };
};

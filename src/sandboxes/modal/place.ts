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

export interface ModalPlace {
  readonly app: string;
  /** Unknown if the journal names only the app. */
  readonly account?: CloudPlace;
}

/** The account in which a client makes sandboxes, without the app. Modal does not name the owner of a token. */
export const modalAccount = ({ profile }: ModalClient): CloudAccount => ({
  environment: profile.environment ?? "",
  token: fingerprintOf(profile.tokenId ?? profile.oauthClientId ?? ""),
});

export const writeModalPlace = (client: ModalClient, { app, lifetimeMs }: ModalSettings): string =>
  writeCloudPlace({ app, ...modalAccount(client) }, lifetimeMs);

/** Reads the place. `undefined` if the journal has none; throws if it is malformed. */
export const readModalPlace = (sandbox: LeftSandbox): ModalPlace | undefined => {
  if (sandbox.place === undefined) return undefined;
  if (APP_NAME.test(sandbox.place)) return { app: sandbox.place };
  const known = readCloudPlace(MODAL, sandbox, ["app", "environment", "token"]);
  const { app = "", ...account } = known?.account ?? {};
  return { app, ...(known && { account: { ...known, account } }) };
};

import type { Sandbox as VercelSandbox, Snapshot as VercelSnapshot } from "@vercel/sandbox";
import { SandboxError } from "../../errors.ts";
import { parseObject } from "../../tools/json/parseJson.ts";
import { isText } from "../../tools/values/predicates.ts";
import { inTime, type Patience } from "../../tools/wait/timeLimit.ts";
import type { CloudAccount } from "../services/account.ts";
import { checkCredential, discreetCause } from "../services/credentials.ts";
import { loadSdk, notLoaded } from "../services/loadSdk.ts";
import {
  CREDENTIALS_HINT,
  discreet,
  OIDC,
  secrets,
  statusOf,
  unavailable,
  VERCEL,
  vercelError,
} from "./error.ts";

/** The used part of the SDK. */
interface VercelSdk {
  readonly Sandbox: typeof VercelSandbox;
  readonly Snapshot: typeof VercelSnapshot;
}

export interface VercelCredentials {
  readonly token: string;
  readonly teamId: string;
  readonly projectId: string;
}

/** The SDK, with the credentials for its requests. */
export interface VercelClient {
  readonly sdk: VercelSdk;
  readonly credentials: VercelCredentials;
}

/** The team and project of an OIDC token. The SDK would find them too, but asks at the terminal if it cannot. */
const ofOidcToken = (token: string): VercelCredentials => {
  const payload = parseObject(Buffer.from(token.split(".")[1] ?? "", "base64url").toString());
  const { owner_id: teamId, project_id: projectId } = payload ?? {};
  if (isText(teamId) && isText(projectId)) return { token, teamId, projectId };
  throw unavailable("VERCEL_OIDC_TOKEN does not hold a Vercel token", CREDENTIALS_HINT);
};

const readCredentials = (): VercelCredentials => {
  const names = ["VERCEL_TOKEN", "VERCEL_TEAM_ID", "VERCEL_PROJECT_ID"];
  const [token, teamId, projectId] = names.map((name) => process.env[name]);
  for (const name of [...names, OIDC]) checkCredential(VERCEL, name, process.env[name], CREDENTIALS_HINT);
  if (token && teamId && projectId) return { token, teamId, projectId };
  const oidcToken = process.env[OIDC];
  if (oidcToken) return ofOidcToken(oidcToken);
  const missing = names.filter((name) => !process.env[name]);
  throw unavailable(
    token
      ? `VERCEL_TOKEN is set, but ${missing.join(" and ")} ${missing.length > 1 ? "are" : "is"} missing`
      : "there are no credentials, neither in VERCEL_TOKEN nor in VERCEL_OIDC_TOKEN",
    CREDENTIALS_HINT,
  );
};

/** Loads the SDK, and checks that there are credentials. Rejects with a `SandboxUnavailableError`. */
export const loadVercel = async (): Promise<VercelClient> => {
  const sdk = await loadSdk<VercelSdk>({
    provider: VERCEL,
    install: "@vercel/sandbox@^3.5.0",
    load: () => import("@vercel/sandbox").catch(notLoaded),
    isIt: ({ Sandbox }) =>
      typeof Sandbox?.create === "function" &&
      typeof Sandbox.list === "function" &&
      // Without it, running a command would restart a sandbox that has ended.
      typeof Sandbox.prototype.currentSession === "function",
  });
  return { sdk, credentials: readCredentials() };
};

/** The account in which a client makes sandboxes. */
export const vercelAccount = ({ credentials }: VercelClient): CloudAccount => ({
  team: credentials.teamId,
  project: credentials.projectId,
});

/** Sends a harmless request, to check that Vercel answers and accepts the credentials. */
export const requireVercel = async (
  { sdk, credentials }: VercelClient,
  patience: Patience,
): Promise<void> => {
  try {
    await inTime((signal) => sdk.Sandbox.list({ ...credentials, limit: 1, signal }), patience);
  } catch (error) {
    patience.signal?.throwIfAborted();
    throw vercelError("its sandboxes could not be listed", error);
  }
};

/** Finds a sandbox by its name, without restarting it; `undefined` if there is none. */
export const findVercelSandbox = async (
  { sdk, credentials }: VercelClient,
  name: string,
  patience: Patience,
): Promise<VercelSandbox | undefined> => {
  try {
    return await inTime(
      (signal) => sdk.Sandbox.get({ ...credentials, name, resume: false, signal }),
      patience,
    );
  } catch (error) {
    if (statusOf(error) === 404) return undefined;
    throw error;
  }
};

/**
 * Deletes a sandbox with the snapshots that no other one uses; a missing one counts as deleted. Rejects if it may still exist.
 * With `keepsSnapshots`, they stay until they expire.
 */
export const deleteVercelSandbox = async (
  sandbox: VercelSandbox,
  { keepsSnapshots = false, ...patience }: Patience & { readonly keepsSnapshots?: boolean },
): Promise<void> => {
  const remove = (signal: AbortSignal) => sandbox.delete({ deleteOrphanSnapshots: !keepsSnapshots, signal });
  await inTime(remove, patience).catch((cause: unknown) => {
    if (statusOf(cause) === 404) return;
    throw new SandboxError(
      VERCEL,
      `the sandbox ${sandbox.name} could not be deleted. Try: npx sandbox remove ${sandbox.name}`,
      discreet(String(cause)),
      { cause: discreetCause(cause, secrets()) },
    );
  });
};

import type { Sandbox as VercelSandbox } from "@vercel/sandbox";
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

/** What of the SDK is used. */
interface VercelSdk {
  readonly Sandbox: typeof VercelSandbox;
}

export interface VercelCredentials {
  readonly token: string;
  readonly teamId: string;
  readonly projectId: string;
}

/** The SDK, with the credentials for all that is asked of it. */
export interface VercelClient {
  readonly sdk: VercelSdk;
  readonly credentials: VercelCredentials;
}

/** Whom an OIDC token is for. The SDK would find that out too, but asks at the terminal if it cannot. */
const ofOidcToken = (token: string): VercelCredentials => {
  const payload = parseObject(Buffer.from(token.split(".")[1] ?? "", "base64url").toString());
  const { owner_id: teamId, project_id: projectId } = payload ?? {};
  if (isText(teamId) && isText(projectId)) return { token, teamId, projectId };
  throw unavailable("VERCEL_OIDC_TOKEN holds no token of Vercel's", CREDENTIALS_HINT);
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
      ? `there is VERCEL_TOKEN, but no ${missing.join(" and no ")}`
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
      // Without it, commands could only be run in a way that starts a sandbox anew when it has ended.
      typeof Sandbox.prototype.currentSession === "function",
  });
  return { sdk, credentials: readCredentials() };
};

/** In which account a client's sandboxes are made. */
export const vercelAccount = ({ credentials }: VercelClient): CloudAccount => ({
  team: credentials.teamId,
  project: credentials.projectId,
});

/** Asks Vercel something harmless, to find out whether it answers, and accepts the credentials. */
export const requireVercel = async (
  { sdk, credentials }: VercelClient,
  patience: Patience,
): Promise<void> => {
  try {
    await inTime((signal) => sdk.Sandbox.list({ ...credentials, limit: 1, signal }), patience);
  } catch (error) {
    patience.signal?.throwIfAborted();
    throw vercelError("it could not be asked about its sandboxes", error);
  }
};

/** A sandbox by its name, without starting it anew; `undefined` if there is none. */
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

/** Deletes a sandbox; one that is not there counts as deleted. Rejects if it may still be there. */
export const deleteVercelSandbox = async (sandbox: VercelSandbox, patience: Patience): Promise<void> => {
  const remove = (signal: AbortSignal) => sandbox.delete({ deleteOrphanSnapshots: true, signal });
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

import type { ModalClient, ModalClientParams } from "modal";
import { SandboxError, SandboxUnavailableError, SandduneError } from "../errors.ts";
import { checkCredential, discreetCause, withoutSecrets } from "./credentials.ts";
import { inTime, NoAnswerError } from "./inTime.ts";
import { loadSdk } from "./loadSdk.ts";

export const MODAL = "modal";

const TOKEN_HINT =
  "Make a token at https://modal.com/settings/tokens and set MODAL_TOKEN_ID and MODAL_TOKEN_SECRET";

/** What the SDK has to say is for the errors; the terminal is the run's. */
const SILENT: ModalClientParams["logger"] = {
  debug: () => {},
  info: () => {},
  warn: () => {},
  error: () => {},
};

const unavailable = (problem: string, hint: string) => new SandboxUnavailableError(MODAL, problem, hint);

/** Says which credentials are missing, by name. */
const requireCredentials = ({ profile }: ModalClient): void => {
  checkCredential(MODAL, "MODAL_TOKEN_ID", profile.tokenId, TOKEN_HINT);
  checkCredential(MODAL, "MODAL_TOKEN_SECRET", profile.tokenSecret, TOKEN_HINT);
  if (profile.oauthRefreshToken !== undefined || (profile.tokenId && profile.tokenSecret)) return;
  const [present, missing] = profile.tokenId
    ? ["MODAL_TOKEN_ID", "MODAL_TOKEN_SECRET"]
    : ["MODAL_TOKEN_SECRET", "MODAL_TOKEN_ID"];
  const hasHalf = Boolean(profile.tokenId || profile.tokenSecret);
  throw unavailable(
    hasHalf
      ? `there is ${present}, but no ${missing}`
      : "there are no credentials, neither in MODAL_TOKEN_ID and MODAL_TOKEN_SECRET nor in ~/.modal.toml",
    TOKEN_HINT,
  );
};

/** Loads the SDK and makes a client of it. Nothing is sent yet. Rejects with a `SandboxUnavailableError`. */
export const connectToModal = async (): Promise<ModalClient> => {
  const sdk = await loadSdk({
    provider: MODAL,
    // Without a version, npm gives another package of that name: one for windows in a browser.
    install: "modal@^0.11.1",
    from: import.meta.url,
    load: () => import("modal"),
    isIt: (module) => typeof module.ModalClient === "function",
  });
  let client: ModalClient;
  try {
    client = new sdk.ModalClient({ logger: SILENT });
  } catch (error) {
    throw unavailable(`its settings are not usable: ${(error as Error).message}`, TOKEN_HINT);
  }
  requireCredentials(client);
  return client;
};

/** Codes of gRPC. */
export const GRPC = {
  deadlineExceeded: 4,
  notFound: 5,
  permissionDenied: 7,
  resourceExhausted: 8,
  unavailable: 14,
  unauthenticated: 16,
} as const;

export const grpcCodeOf = (error: unknown): unknown => (error as { code?: unknown } | undefined)?.code;

/** Whether what was asked for is not there (any more). */
export const isNotFound = (error: unknown): boolean =>
  grpcCodeOf(error) === GRPC.notFound || (error as Error | undefined)?.name === "NotFoundError";

/** What a refusal of Modal's means for whoever wants a sandbox. */
export const modalError = (problem: string, error: unknown): SandduneError => {
  if (error instanceof SandduneError) return error;
  const secrets = [process.env["MODAL_TOKEN_SECRET"]];
  const discreet = (text: string) => withoutSecrets(text, secrets);
  const said = discreet((error as Error).message);
  switch (error instanceof NoAnswerError ? GRPC.deadlineExceeded : grpcCodeOf(error)) {
    case GRPC.unauthenticated:
    case GRPC.permissionDenied:
      return unavailable(`Modal refuses the credentials (${said})`, TOKEN_HINT);
    case GRPC.unavailable:
    case GRPC.deadlineExceeded:
      return unavailable(
        `Modal cannot be reached (${said})`,
        "Check the network, MODAL_SERVER_URL if it is set, and https://status.modal.com",
      );
    case GRPC.resourceExhausted:
      return unavailable(
        `Modal has no room at the moment (${said})`,
        "Try again later, run less at once, or ask Modal for higher limits",
      );
    default:
      return new SandboxError(MODAL, problem, discreet(String(error)), {
        cause: discreetCause(error, secrets),
      });
  }
};

const PREFLIGHT_TIMEOUT_MS = 20_000;

/** Asks Modal something harmless, to find out whether it answers, and accepts the credentials. */
export const requireModal = async (client: ModalClient, app: string, signal?: AbortSignal): Promise<void> => {
  try {
    await inTime(client.apps.fromName(app), { timeoutMs: PREFLIGHT_TIMEOUT_MS, signal });
  } catch (error) {
    signal?.throwIfAborted();
    if (!isNotFound(error)) throw modalError(`it could not be asked about the app ${app}`, error);
  }
};

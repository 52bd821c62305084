import type { ModalClient, ModalClientParams } from "modal";
import { SandboxBusyError, SandboxError, SandboxUnavailableError, SandduneError } from "../../errors.ts";
import { inTime, type Patience, TimeLimitError } from "../../tools/wait/timeLimit.ts";
import { checkCredential, discreetCause, withoutSecrets } from "../services/credentials.ts";
import { loadSdk, notLoaded } from "../services/loadSdk.ts";
import { refusalOf } from "../services/refusal.ts";
import type { Transience } from "../services/untilAccepted.ts";
import { type ModalConnection, openConnection } from "./connection.ts";

export const MODAL = "modal";

const TOKEN_HINT =
  "Make a token at https://modal.com/settings/tokens and set MODAL_TOKEN_ID and MODAL_TOKEN_SECRET";

/** The SDK must not print: its messages reach the user through errors. */
const SILENT: ModalClientParams["logger"] = {
  debug: () => {},
  info: () => {},
  warn: () => {},
  error: () => {},
};

const unavailable = (problem: string, hint: string) => new SandboxUnavailableError(MODAL, problem, hint);

/** Refuses missing credentials, by name. */
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
      ? `${present} is set, but ${missing} is missing`
      : "there are no credentials, neither in MODAL_TOKEN_ID and MODAL_TOKEN_SECRET nor in ~/.modal.toml",
    TOKEN_HINT,
  );
};

/** Loads the SDK and makes a client of it. Nothing is sent yet. Rejects with a `SandboxUnavailableError`. */
export const connectToModal = async (): Promise<ModalConnection> => {
  const sdk = await loadSdk({
    provider: MODAL,
    // Without a version, npm installs another package of that name: dialog windows for browsers.
    install: "modal@^0.11.1",
    load: () => import("modal").catch(notLoaded),
    isIt: (module) => typeof module.ModalClient === "function",
  });
  let connection: ModalConnection;
  try {
    connection = openConnection(sdk.ModalClient, { logger: SILENT });
  } catch (error) {
    throw unavailable(`its settings are not usable: ${(error as Error).message}`, TOKEN_HINT);
  }
  requireCredentials(connection.client);
  return connection;
};

/** Sends a request over a separate connection. */
export const askModal = async <A>(ask: (client: ModalClient) => Promise<A>): Promise<A> => {
  const connection = await connectToModal();
  try {
    return await ask(connection.client);
  } finally {
    connection.close();
  }
};

/** Codes of gRPC. */
export const GRPC = {
  unknown: 2,
  deadlineExceeded: 4,
  notFound: 5,
  permissionDenied: 7,
  resourceExhausted: 8,
  internal: 13,
  unavailable: 14,
  unauthenticated: 16,
} as const;

export const grpcCodeOf = (error: unknown): unknown => (error as { code?: unknown } | undefined)?.code;

/** Whether the requested object does not exist. */
export const isNotFound = (error: unknown): boolean =>
  grpcCodeOf(error) === GRPC.notFound || (error as Error | undefined)?.name === "NotFoundError";

const FOR_NOW: readonly unknown[] = [GRPC.resourceExhausted, GRPC.unavailable, GRPC.internal, GRPC.unknown];

/** Whether a retry may help. The SDK itself waits as long as Modal asks for. */
export const modalTransience = (error: unknown): Transience | undefined =>
  FOR_NOW.includes(grpcCodeOf(error)) ? {} : undefined;

/** Hints for forbidden requests. */
const FORBIDDEN_HINTS = {
  quota: "Run fewer at once, or look at the limits of your plan: https://modal.com/settings/plans",
  image: "Use an image that Modal may pull, or one that it has built",
  other: "Check MODAL_ENVIRONMENT, and what this token may do: https://modal.com/settings/tokens",
} as const;

export const secrets = () => [process.env["MODAL_TOKEN_SECRET"]];

/** The error for a request that Modal has refused or not answered. */
export const modalError = (problem: string, error: unknown): SandduneError => {
  if (error instanceof SandduneError) return error;
  const discreet = (text: string) => withoutSecrets(text, secrets());
  const said = discreet((error as Error).message);
  switch (error instanceof TimeLimitError ? GRPC.deadlineExceeded : grpcCodeOf(error)) {
    case GRPC.unauthenticated:
      return unavailable(`Modal refuses the credentials (${said})`, TOKEN_HINT);
    case GRPC.permissionDenied:
      return unavailable(
        `Modal accepts the credentials, but not this request (${said})`,
        FORBIDDEN_HINTS[refusalOf(said)],
      );
    case GRPC.unavailable:
    case GRPC.internal:
    case GRPC.deadlineExceeded:
      return new SandboxBusyError(
        MODAL,
        `Modal cannot be reached (${said})`,
        "Check the network, MODAL_SERVER_URL if it is set, and https://status.modal.com",
      );
    case GRPC.resourceExhausted:
      return new SandboxBusyError(
        MODAL,
        `Modal has no free capacity at the moment (${said})`,
        "Try again later, run fewer at once, or ask Modal for higher limits",
      );
    default:
      return new SandboxError(MODAL, problem, discreet(String(error)), {
        cause: discreetCause(error, secrets()),
      });
  }
};

/** Sends a harmless request, to check that Modal answers and accepts the credentials. */
export const requireModal = async (client: ModalClient, app: string, patience: Patience): Promise<void> => {
  try {
    await inTime(() => client.apps.fromName(app), patience);
  } catch (error) {
    patience.signal?.throwIfAborted();
    if (!isNotFound(error)) throw modalError(`the app ${app} could not be looked up`, error);
  }
};

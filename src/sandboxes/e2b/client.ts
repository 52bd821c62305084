import type { CommandExitError, Sandbox } from "e2b";
import { SandboxBusyError, SandboxError, SandboxUnavailableError, type SandduneError } from "../../errors.ts";
import { orUndefined } from "../../tools/orUndefined.ts";
import { TimeLimitError } from "../../tools/wait/timeLimit.ts";
import { type CloudAccount, fingerprintOf } from "../services/account.ts";
import { checkCredential, discreetCause, withoutSecrets } from "../services/credentials.ts";
import { loadSdk, notLoaded } from "../services/loadSdk.ts";
import { refusalOf } from "../services/refusal.ts";
import { callE2b, e2bTransience, statusOf } from "./callE2b.ts";

export const E2B = "e2b";

/** The used part of the SDK. */
export interface E2bSdk {
  readonly Sandbox: typeof Sandbox;
  readonly CommandExitError: typeof CommandExitError;
}

const KEY_HINT = "Make a key at https://e2b.dev/dashboard?tab=keys and set E2B_API_KEY";

const unavailable = (problem: string, hint: string) => new SandboxUnavailableError(E2B, problem, hint);

/** Loads the SDK, and checks that there are credentials. Rejects with a `SandboxUnavailableError`. */
export const loadE2b = async (): Promise<E2bSdk> => {
  const sdk = await loadSdk<E2bSdk>({
    provider: E2B,
    install: "e2b@^2.51.0",
    load: () => import("e2b").catch(notLoaded),
    isIt: ({ Sandbox, CommandExitError }) =>
      typeof Sandbox?.create === "function" &&
      typeof Sandbox.list === "function" &&
      typeof CommandExitError === "function",
  });
  const key = process.env["E2B_API_KEY"];
  if (!key) throw unavailable("E2B_API_KEY is not set", KEY_HINT);
  checkCredential(E2B, "E2B_API_KEY", key, KEY_HINT);
  return sdk;
};

/** The host alone: other parts of a URL may hold a password. */
const hostOf = (url: string): string => orUndefined(() => new URL(url).host) ?? "";

/** The account in which sandboxes are made. E2B does not name the owner of a key, so a fingerprint stands for it. */
export const e2bAccount = (): CloudAccount => {
  const { E2B_API_KEY: key = "", E2B_API_URL: url = "", E2B_DOMAIN: domain = "" } = process.env;
  return { key: fingerprintOf(key), host: url === "" ? domain : hostOf(url) };
};

/** Whether E2B knows no such sandbox or template. */
export const isNotFound = (error: unknown): boolean =>
  statusOf(error) === 404 || /^(Sandbox|File)?NotFoundError$/.test((error as Error | undefined)?.name ?? "");

export const secrets = () => [process.env["E2B_API_KEY"]];

/** Removes the key from a message. */
export const discreet = (text: string): string => withoutSecrets(text, secrets());

/** Hints for forbidden requests. */
const FORBIDDEN_HINTS = {
  quota: "Run fewer at once, or look at the limits of your plan: https://e2b.dev/dashboard",
  image: "Use a template of your team: npx @e2b/cli template list",
  other: "Look at what the team of this key may do: https://e2b.dev/dashboard",
} as const;

/** The error for a request that E2B has refused or not answered. */
export const e2bError = (problem: string, error: unknown): SandduneError => {
  const said = discreet((error as Error).message);
  const { name } = error as Error;
  if (name === "AuthenticationError") {
    return unavailable(`E2B refuses the key in E2B_API_KEY (${said})`, KEY_HINT);
  }
  if (statusOf(error) === 403) {
    return unavailable(
      `E2B accepts the key, but not this request (${said})`,
      FORBIDDEN_HINTS[refusalOf(said)],
    );
  }
  const forNow = (why: string, hint: string) =>
    new SandboxBusyError(E2B, `${why} (${said})`, hint, e2bTransience(error)?.retryAfterMs);
  if (statusOf(error) === 429) {
    return forNow("E2B has no free capacity at the moment", "Try again later, or run fewer at once");
  }
  const isUnanswered = error instanceof TimeLimitError || name === "TimeoutError" || name === "TypeError";
  if (isUnanswered || e2bTransience(error) !== undefined) {
    return forNow(
      "E2B cannot be reached",
      "Check the network, E2B_DOMAIN and E2B_API_URL if they are set, and https://status.e2b.dev",
    );
  }
  return new SandboxError(E2B, problem, discreet(String(error)), {
    cause: discreetCause(error, secrets()),
  });
};

/** How long E2B may take for a request. */
export interface E2bPatience {
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** Sends a harmless request, to check that E2B answers and accepts the key. */
export const requireE2b = async ({ Sandbox }: E2bSdk, patience: E2bPatience): Promise<void> => {
  try {
    await callE2b((call) => Sandbox.list({ limit: 1 }).nextItems(call), patience);
  } catch (error) {
    patience.signal?.throwIfAborted();
    throw e2bError("its sandboxes could not be listed", error);
  }
};

/** No run has so many sandboxes: a longer list is not an answer to the query. */
const MAX_PAGES = 100;

/**
 * The ids of the sandboxes that carry all of the tags. The answer is checked before sandboxes are ended: not every service that
 * speaks E2B's protocol applies the query.
 */
export const findE2bSandboxes = async (
  { Sandbox }: E2bSdk,
  metadata: Readonly<Record<string, string>>,
  patience: E2bPatience,
): Promise<readonly string[]> => {
  const found: string[] = [];
  const pages = Sandbox.list({ query: { metadata } });
  const isMeant = (tags: Readonly<Record<string, string>> | undefined) =>
    Object.entries(metadata).every(([name, value]) => tags?.[name] === value);
  for (let count = 0; pages.hasNext && count < MAX_PAGES; count++) {
    const page = await callE2b((call) => pages.nextItems(call), patience);
    found.push(...page.filter((item) => isMeant(item.metadata)).map(({ sandboxId }) => sandboxId));
  }
  return found;
};

/** Ends a sandbox; a missing one counts as ended. Rejects if it may still exist. */
export const endE2bSandbox = async (
  { Sandbox }: E2bSdk,
  sandboxId: string,
  patience: E2bPatience,
): Promise<void> => {
  await callE2b((call) => Sandbox.kill(sandboxId, call), patience).catch((cause: unknown) => {
    if (isNotFound(cause)) return;
    throw new SandboxError(
      E2B,
      `the sandbox ${sandboxId} could not be ended. Try: npx @e2b/cli sandbox kill ${sandboxId}`,
      discreet(String(cause)),
      { cause: discreetCause(cause, secrets()) },
    );
  });
};

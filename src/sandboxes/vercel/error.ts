import { SandboxBusyError, SandboxError, SandboxUnavailableError, type SandduneError } from "../../errors.ts";
import { discreetCause, withoutSecrets } from "../services/credentials.ts";
import { refusalOf } from "../services/refusal.ts";
import { isTransientStatus, readRetryAfter, type Transience } from "../services/untilAccepted.ts";

export const VERCEL = "vercel";

export const OIDC = "VERCEL_OIDC_TOKEN";

export const CREDENTIALS_HINT =
  "Make a token at https://vercel.com/account/settings/tokens, and set VERCEL_TOKEN, VERCEL_TEAM_ID and VERCEL_PROJECT_ID. Or get a VERCEL_OIDC_TOKEN: npx vercel link, then npx vercel env pull";

export const unavailable = (problem: string, hint: string) =>
  new SandboxUnavailableError(VERCEL, problem, hint);

/** The SDK's error about an answer. */
interface Refused {
  readonly response?: Pick<Response, "status" | "headers">;
}

const refused = (error: unknown): Refused => (error ?? {}) as Refused;

export const statusOf = (error: unknown): number | undefined => refused(error).response?.status;

/** Whether a retry may help: no free capacity, or a failure of the service. */
export const vercelTransience = (error: unknown): Transience | undefined => {
  const { response } = refused(error);
  if (response === undefined || !isTransientStatus(response.status)) return undefined;
  return { retryAfterMs: readRetryAfter(response.headers.get("retry-after")) };
};

export const secrets = () => [process.env["VERCEL_TOKEN"], process.env[OIDC]];

/** Removes the credentials from a message. */
export const discreet = (text: string): string => withoutSecrets(text, secrets());

/** Hints for forbidden requests. */
const FORBIDDEN_HINTS = {
  quota: "Run fewer at once, or look at the limits of your plan: https://vercel.com/dashboard/usage",
  image: "Use an image of this project, or of vercel/sandbox",
} as const;

/** The error for a request that Vercel has refused or not answered. */
export const vercelError = (problem: string, error: unknown): SandduneError => {
  const said = discreet((error as Error).message);
  const status = statusOf(error);
  if (status === 401 || status === 402 || status === 403) {
    const refusal = status === 402 ? "quota" : refusalOf(said);
    // Vercel answers with 403 to an unknown token, too.
    if (status === 401 || refusal === "other") {
      return unavailable(`Vercel refuses the credentials (${said})`, CREDENTIALS_HINT);
    }
    return unavailable(
      `Vercel accepts the credentials, but not this request (${said})`,
      FORBIDDEN_HINTS[refusal],
    );
  }
  const forNow = (problem: string, hint: string) =>
    new SandboxBusyError(VERCEL, `${problem} (${said})`, hint, vercelTransience(error)?.retryAfterMs);
  if (status === 429) {
    return forNow(
      "Vercel has no free capacity at the moment",
      "Try again later, run fewer at once, or look at the limits of your plan",
    );
  }
  if (status === undefined || status >= 500) {
    return forNow("Vercel cannot be reached", "Check the network, and https://www.vercel-status.com");
  }
  return new SandboxError(VERCEL, problem, discreet(String(error)), {
    cause: discreetCause(error, secrets()),
  });
};

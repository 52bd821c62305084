import { createIsolatedSandboxProvider, type IsolatedSandboxProvider } from "./contract.ts";
import { writeCloudPlace } from "./services/account.ts";
import { loadVercel, requireVercel, vercelAccount } from "./vercel/client.ts";
import { VERCEL } from "./vercel/error.ts";
import { type VercelOptions, vercelSettings } from "./vercel/options.ts";
import { createVercelSandbox } from "./vercel/sandbox.ts";
import { removeVercelSnapshot } from "./vercel/snapshot.ts";

export type { CloudNetwork } from "./services/serviceOptions.ts";
export type { VercelOptions };

/**
 * Sandboxes that are virtual machines at Vercel, one each. Needs the package `@vercel/sandbox`, which you install yourself,
 * and credentials in the environment: `VERCEL_TOKEN`, `VERCEL_TEAM_ID` and `VERCEL_PROJECT_ID`, or
 * `VERCEL_OIDC_TOKEN`.
 *
 * @example
 * await run({ agent, sandbox: vercel({ vcpus: 4 }), prompt: "Fix issue 7" });
 */
export const vercel = (options: VercelOptions = {}): IsolatedSandboxProvider => {
  const settings = vercelSettings(options);
  return createIsolatedSandboxProvider({
    name: VERCEL,
    ...(options.env && { env: options.env }),
    capabilities: { terminal: false },
    preflight: async ({ signal }) =>
      requireVercel(await loadVercel(), { timeoutMs: settings.requestTimeoutMs, signal }),
    removeSnapshot: async (snapshot) =>
      removeVercelSnapshot(await loadVercel(), snapshot, { timeoutMs: settings.requestTimeoutMs }),
    create: async (createOptions) => {
      createOptions.signal?.throwIfAborted();
      createOptions.onPlaced?.(writeCloudPlace(vercelAccount(await loadVercel()), settings.lifetimeMs));
      return createVercelSandbox(settings, createOptions);
    },
  });
};

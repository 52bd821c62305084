import { createIsolatedSandboxProvider, type IsolatedSandboxProvider } from "./contract.ts";
import { E2B, e2bAccount, loadE2b, requireE2b } from "./e2b/client.ts";
import { type E2bOptions, e2bSettings } from "./e2b/options.ts";
import { createE2bSandbox } from "./e2b/sandbox.ts";
import { removeE2bSnapshots } from "./e2b/snapshot.ts";
import { writeCloudPlace } from "./services/account.ts";

export type { CloudNetwork } from "./services/serviceOptions.ts";
export type { E2bOptions };

/**
 * Sandboxes that are virtual machines at E2B, one each. Needs the package `e2b`, which you install yourself, and a key in the
 * environment variable `E2B_API_KEY`.
 *
 * @example
 * await run({ agent, sandbox: e2b({ template: "my-app" }), prompt: "Fix issue 7" });
 */
export const e2b = (options: E2bOptions = {}): IsolatedSandboxProvider => {
  const settings = e2bSettings(options);
  return createIsolatedSandboxProvider({
    name: E2B,
    ...(options.env && { env: options.env }),
    capabilities: { terminal: false },
    preflight: async ({ signal }) =>
      requireE2b(await loadE2b(), { timeoutMs: settings.requestTimeoutMs, signal }),
    removeSnapshot: async ({ name }) =>
      removeE2bSnapshots(await loadE2b(), name, { timeoutMs: settings.requestTimeoutMs }),
    create: async (createOptions) => {
      createOptions.signal?.throwIfAborted();
      await loadE2b();
      createOptions.onPlaced?.(writeCloudPlace(e2bAccount(), settings.lifetimeMs));
      return createE2bSandbox(settings, createOptions);
    },
  });
};

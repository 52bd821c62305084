import { describeProvider } from "../description/providerDescription.ts";

/** For programs only: it isolates nothing. */
export const testIsolated = describeProvider({
  name: "test-isolated",
  settings: {},
  leftovers: async () => (await import("./directory.ts")).testIsolatedLeftovers,
});

import { inspect } from "node:util";
import { afterEach, expect, it, vi } from "vitest";
import { SandboxUnavailableError } from "../../../src/errors.ts";
import type { SandboxProvider } from "../../../src/sandboxes/contract.ts";
import { e2b } from "../../../src/sandboxes/e2b.ts";
import { modal } from "../../../src/sandboxes/modal.ts";
import { discreetCause, withoutSecrets } from "../../../src/sandboxes/services/credentials.ts";
import { vercel } from "../../../src/sandboxes/vercel.ts";

afterEach(() => void vi.unstubAllEnvs());

const others = {
  ...{ VERCEL_TOKEN: "t", VERCEL_TEAM_ID: "team", VERCEL_PROJECT_ID: "project" },
  ...{ MODAL_TOKEN_ID: "ak-1", MODAL_TOKEN_SECRET: "as-1", MODAL_CONFIG_PATH: "/nowhere" },
};

it.each<[string, SandboxProvider]>([
  ["E2B_API_KEY", e2b()],
  ["VERCEL_TOKEN", vercel()],
  ["MODAL_TOKEN_ID", modal()],
  ["MODAL_TOKEN_SECRET", modal()],
])(
  "%s with a line end in it is refused by its name, and its value is in no error",
  async (name, provider) => {
    for (const value of ["hidden-secret\n", "hidden-\nsecret", "hidden secret"]) {
      for (const [other, given] of Object.entries(others)) vi.stubEnv(other, given);
      vi.stubEnv(name, value);
      const error = await provider.preflight?.({ repositoryPath: "/" }).catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(SandboxUnavailableError);
      expect(String(error)).toContain(`${name} holds a character that no key has`);
      expect(String(error)).not.toContain("hidden");
    }
  },
);

it("what a service repeats of a secret is left out", () => {
  const echoing = new Error("no such key: abc");
  expect(inspect(discreetCause(echoing, ["abc"]))).not.toContain("abc");
  expect(discreetCause(echoing, ["xyz"])).toBe(echoing);
  expect(withoutSecrets("no such key: abc. abc?", ["abc", undefined, ""])).toBe("no such key: ***. ***?");
});

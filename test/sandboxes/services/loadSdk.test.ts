import { expect, it } from "vitest";
import { SandboxUnavailableError } from "../../../src/errors.ts";
import { loadSdk } from "../../../src/sandboxes/services/loadSdk.ts";

const about = { provider: "cloud", install: "cloud@^2.5.1" };

const failureOf = (attempt: Promise<unknown>): Promise<SandboxUnavailableError> =>
  attempt.then(
    () => expect.unreachable(),
    (error) => error,
  );

it("an installed SDK is loaded", async () => {
  const module = { open: () => {} };
  expect(await loadSdk({ ...about, load: async () => module, isIt: () => true })).toBe(module);
});

it("a missing SDK is reported with the command that installs it", async () => {
  const name = "a-package-that-nobody-has-installed";
  const error = await failureOf(loadSdk({ ...about, load: () => import(name), isIt: () => true }));
  expect(error).toBeInstanceOf(SandboxUnavailableError);
  expect(error.message).toMatch(
    /^The cloud sandbox is not available: its SDK could not be loaded \(.*Cannot find/,
  );
  expect(error.message).toMatch(/Install it: npm install cloud@\^2\.5\.1$/);
});

it("another package of the same name is refused", async () => {
  const error = await failureOf(
    loadSdk({
      ...about,
      load: async (): Promise<Record<string, unknown>> => ({ other: true }),
      isIt: (module) => "Sandbox" in module,
    }),
  );
  expect(error).toBeInstanceOf(SandboxUnavailableError);
  expect(error.message).toContain("the installed package cloud is not its SDK, or is of another version");
  expect(error.hint).toBe("Install it: npm install cloud@^2.5.1");
});

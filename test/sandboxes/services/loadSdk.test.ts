import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, it } from "vitest";
import { SandboxUnavailableError } from "../../../src/errors.ts";
import { loadSdk } from "../../../src/sandboxes/services/loadSdk.ts";
import { temporaryDirectory } from "../../helpers/repository/repository.ts";

const about = { provider: "cloud", install: "cloud@^2.5.1", from: import.meta.url };

const failureOf = (attempt: Promise<unknown>): Promise<SandboxUnavailableError> =>
  attempt.then(
    () => expect.unreachable(),
    (error) => error,
  );

it("an SDK that is there is handed out", async () => {
  const module = { open: () => {} };
  expect(await loadSdk({ ...about, load: async () => module, isIt: () => true })).toBe(module);
});

it("one that is not installed is told of, with the command that installs it", async () => {
  const name = "a-package-that-nobody-has-installed";
  const error = await failureOf(loadSdk({ ...about, load: () => import(name), isIt: () => true }));
  expect(error).toBeInstanceOf(SandboxUnavailableError);
  expect(error.message).toMatch(
    /^The cloud sandbox is not available: its SDK could not be loaded \(.*Cannot find/,
  );
  expect(error.message).toMatch(/Install it: npm install cloud@\^2\.5\.1$/);
});

it("another package of the same name is not taken for it", async () => {
  const error = await failureOf(
    loadSdk({
      ...about,
      load: async (): Promise<Record<string, unknown>> => ({ other: true }),
      isIt: (module) => "Sandbox" in module,
    }),
  );
  expect(error).toBeInstanceOf(SandboxUnavailableError);
  expect(error.message).toContain("but it is another one, or too old");
  expect(error.hint).toBe("Install it: npm install cloud@^2.5.1");
});

describe("the version of an SDK", () => {
  /** The URL of a module beside which packages are installed; each with its `package.json`, as text. */
  const moduleBeside = (packages: Readonly<Record<string, string>>): string => {
    const directory = temporaryDirectory();
    for (const [name, content] of Object.entries(packages)) {
      const path = join(directory, "node_modules", name);
      mkdirSync(path, { recursive: true });
      writeFileSync(join(path, "package.json"), content);
    }
    const inside = join(directory, "dist", "chunks");
    mkdirSync(inside, { recursive: true });
    return pathToFileURL(join(inside, "module.js")).href;
  };
  const packageJson = (version: unknown, name = "cloud") =>
    // Such a package lets nobody import this file.
    JSON.stringify({ name, version, exports: { ".": "./index.js" } });
  const load = (from: string, install = "cloud@^2.5.1") =>
    loadSdk({ ...about, install, from, load: async () => "the SDK", isIt: () => true });

  it.each([
    ["^2.5.1", "2.5.1"],
    ["^2.5.1", "2.5.2"],
    ["^2.5.1", "2.10.0"],
    ["^2.5.1", "2.6.0-beta.1"],
    ["^0.11.1", "0.11.1"],
    ["^0.11.1", "0.11.20"],
  ])("in the range %s may be %s", async (range, version) => {
    const from = moduleBeside({ cloud: packageJson(version) });
    expect(await load(from, `cloud@${range}`)).toBe("the SDK");
  });

  it.each([
    ["^2.5.1", "2.5.0"],
    ["^2.5.1", "2.4.9"],
    ["^2.5.1", "1.9.9"],
    ["^2.5.1", "3.5.1"],
    ["^0.11.1", "0.11.0"],
    ["^0.11.1", "0.12.1"],
    ["^0.11.1", "1.11.1"],
  ])("in the range %s may not be %s, and that is said before anything is made", async (range, version) => {
    const from = moduleBeside({ cloud: packageJson(version) });
    const error = await failureOf(load(from, `cloud@${range}`));
    expect(error).toBeInstanceOf(SandboxUnavailableError);
    expect(error.problem).toBe(`its SDK is installed as cloud ${version}, but ${range} is needed`);
    expect(error.hint).toBe(`Install it: npm install cloud@${range}`);
  });

  it("is found of a package with a scope", async () => {
    const from = moduleBeside({ "@some/cloud": packageJson("1.0.0", "@some/cloud") });
    const error = await failureOf(load(from, "@some/cloud@^2.5.1"));
    expect(error.problem).toContain("@some/cloud 1.0.0, but ^2.5.1 is needed");
  });

  it("is said of another package of the same name", async () => {
    const from = moduleBeside({ cloud: packageJson("1.0.0") });
    const error = await failureOf(loadSdk({ ...about, from, load: async () => ({}), isIt: () => false }));
    expect(error.problem).toContain("version 1.0.0, is installed, but it is another one, or too old");
  });

  it.each([
    ["there is no such package", {}],
    ["it is not readable", { cloud: "{" }],
    ["it is none", { cloud: packageJson("latest") }],
    ["it is no text", { cloud: packageJson(1) }],
    ["it is that of another package", { cloud: packageJson("1.0.0", "fork-of-cloud") }],
  ])("is nothing to complain about if %s", async (_, packages) => {
    expect(await load(moduleBeside(packages as Record<string, string>))).toBe("the SDK");
  });

  it.each([undefined, "", "data:text/javascript,0"])(
    "is nothing to complain about in a module without a place: %s",
    async (from) => {
      expect(await load(from as string)).toBe("the SDK");
    },
  );
});

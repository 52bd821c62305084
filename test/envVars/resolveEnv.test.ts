import { describe, expect, it } from "vitest";
import { type EnvSources, resolveEnv } from "../../src/envVars/resolveEnv.ts";
import { EnvOverlapError, InvalidOptionsError } from "../../src/errors.ts";
import { thrownBy } from "../helpers/processes/thrownBy.ts";

const NOTHING: EnvSources = { host: {}, file: {}, agent: {}, sandbox: {}, run: {} };

const resolve = (sources: Partial<EnvSources>) =>
  Object.fromEntries(resolveEnv({ ...NOTHING, ...sources }).entries());

const fromFunction = () => "from a function";
const fromCommand = { command: "pass show key" };
const isPublic = { public: "shown" };

interface Case {
  readonly title: string;
  readonly sources: Partial<EnvSources>;
  readonly expected: Readonly<Record<string, unknown>>;
}

const CASES: readonly Case[] = [
  { title: "nothing is declared when nobody says anything", sources: {}, expected: {} },
  { title: "the host's environment declares nothing", sources: { host: { A: "host" } }, expected: {} },
  {
    title: "the host supplies a key that the run declares",
    sources: { host: { A: "host", B: "other" }, run: { A: undefined } },
    expected: { A: "host" },
  },
  {
    title: "the host supplies a key that the agent provider declares",
    sources: { host: { A: "host" }, agent: { A: undefined } },
    expected: { A: "host" },
  },
  {
    title: "the host supplies a key that the sandbox provider declares",
    sources: { host: { A: "host" }, sandbox: { A: undefined } },
    expected: { A: "host" },
  },
  {
    title: "the host supplies a key that stands empty in the env file",
    sources: { host: { A: "host" }, file: { A: "" } },
    expected: { A: "host" },
  },
  {
    title: "the env file both declares and supplies",
    sources: { file: { A: "file" } },
    expected: { A: "file" },
  },
  {
    title: "the env file wins over the host",
    sources: { host: { A: "host" }, file: { A: "file" } },
    expected: { A: "file" },
  },
  {
    title: "the env file supplies what a provider only declares",
    sources: { host: { A: "host" }, file: { A: "file" }, agent: { A: undefined } },
    expected: { A: "file" },
  },
  {
    title: "the agent provider wins over the env file",
    sources: { host: { A: "host" }, file: { A: "file" }, agent: { A: "agent" } },
    expected: { A: "agent" },
  },
  {
    title: "the sandbox provider wins over the env file",
    sources: { host: { A: "host" }, file: { A: "file" }, sandbox: { A: "sandbox" } },
    expected: { A: "sandbox" },
  },
  {
    title: "the run wins over everybody",
    sources: { host: { A: "host" }, file: { A: "file" }, agent: { A: "agent" }, run: { A: "run" } },
    expected: { A: "run" },
  },
  {
    title: "the run may overlap with both providers at once",
    sources: { agent: { A: "agent" }, sandbox: { B: "sandbox" }, run: { A: "run", B: "run" } },
    expected: { A: "run", B: "run" },
  },
  {
    title: "a run that only declares leaves the value to the provider",
    sources: { agent: { A: "agent" }, run: { A: undefined } },
    expected: { A: "agent" },
  },
  {
    title: "an empty value of the run is a value",
    sources: { host: { A: "host" }, agent: { A: "agent" }, run: { A: "" } },
    expected: { A: "" },
  },
  {
    title: "an empty value of a provider is a value",
    sources: { host: { A: "host" }, file: { A: "file" }, agent: { A: "" } },
    expected: { A: "" },
  },
  {
    title: "an empty value of the host is a value",
    sources: { host: { A: "" }, run: { A: undefined } },
    expected: { A: "" },
  },
  {
    title: "a key that nobody has a value for is left out",
    sources: { run: { A: undefined } },
    expected: {},
  },
  {
    title: "functions, commands and public values are passed on unasked",
    sources: { agent: { A: fromFunction }, sandbox: { B: fromCommand }, run: { C: isPublic } },
    expected: { A: fromFunction, B: fromCommand, C: isPublic },
  },
  {
    title: "a function of the run wins over a string of a provider",
    sources: { agent: { A: "agent" }, run: { A: fromFunction } },
    expected: { A: fromFunction },
  },
  {
    title: "names that every object has are names like any other",
    sources: { run: { constructor: undefined, toString: undefined, valueOf: "v" } as never },
    expected: { valueOf: "v" },
  },
];

describe("which source supplies an env var", () => {
  it.each(CASES)("$title", ({ sources, expected }) => {
    expect(resolve(sources)).toEqual(expected);
  });

  it("asks no function while it decides", () => {
    let asked = 0;
    resolve({ run: { A: () => `${++asked}` } });
    expect(asked).toBe(0);
  });
});

describe("agent provider and sandbox provider must not declare the same key", () => {
  const OVERLAPS: readonly [string, EnvSources["agent"], EnvSources["sandbox"]][] = [
    ["two values", { KEY: "s3cret-one" }, { KEY: "s3cret-two" }],
    ["the same value twice", { KEY: "s3cret-one" }, { KEY: "s3cret-one" }],
    ["a value and a declaration", { KEY: "s3cret-one" }, { KEY: undefined }],
    ["two declarations", { KEY: undefined }, { KEY: undefined }],
    ["a command and a function", { KEY: { command: "s3cret" } }, { KEY: () => "s3cret" }],
    ["a public value and an empty one", { KEY: { public: "s3cret" } }, { KEY: "" }],
  ];

  it.each(OVERLAPS)("%s: throws, and names the key but no value", (_, agent, sandbox) => {
    const error = thrownBy(() => resolve({ agent, sandbox }));
    expect(error).toBeInstanceOf(EnvOverlapError);
    expect(error).toMatchObject({ keys: ["KEY"], message: expect.stringContaining("KEY") });
    expect(JSON.stringify(error) + (error as Error).stack).not.toContain("s3cret");
  });

  it("even if the run sets the key too", () => {
    expect(() => resolve({ agent: { A: "1" }, sandbox: { A: "2" }, run: { A: "3" } })).toThrow(
      EnvOverlapError,
    );
  });

  it("names all of the keys", () => {
    const both = { A: "1", B: "2", C: "3" };
    expect(thrownBy(() => resolve({ agent: both, sandbox: { C: "x", A: "y" } }))).toMatchObject({
      keys: ["A", "C"],
    });
  });
});

describe("names that cannot be env vars are refused", () => {
  const LAYERS = { file: ".sanddune/.env", agent: "agent.env", sandbox: "sandbox.env", run: "env" } as const;
  const BAD = ["", "1A", "A-B", "A B", "A=B", "A\n", "Ä", "A.B", "A\0", " A", "$(id)", "A;id"];
  const OWN = ["SANDDUNE_EXEC_ID", "sanddune_x", "_sanddune_command", "_SANDDUNE_HOME"];

  for (const [layer, option] of Object.entries(LAYERS)) {
    it.each([...BAD, ...OWN])(`%j in ${option}`, (name) => {
      const error = thrownBy(() => resolve({ [layer]: { [name]: "s3cret-value" } }));
      expect(error).toBeInstanceOf(InvalidOptionsError);
      expect(error).toMatchObject({ option });
      expect((error as Error).stack).not.toContain("s3cret-value");
    });
  }

  it("but the host may have whatever names it likes", () => {
    expect(resolve({ host: { "npm_config_//registry": "x", "BASH_FUNC_f%%": "() { :; }" } })).toEqual({});
  });

  it.each(["_", "__proto__", "a", "A1_b", "LD_PRELOAD", "IFS"])("%s is a name", (name) => {
    const run = Object.fromEntries([[name, "value"]]);
    expect([...resolveEnv({ ...NOTHING, run })]).toEqual([[name, "value"]]);
  });
});

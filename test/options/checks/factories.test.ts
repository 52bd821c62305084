import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import * as environment from "../../../src/environment/index.ts";
import * as library from "../../../src/index.ts";
import { bubblewrap } from "../../../src/sandboxes/bubblewrap.ts";
import { docker } from "../../../src/sandboxes/docker.ts";
import { e2b } from "../../../src/sandboxes/e2b.ts";
import * as kit from "../../../src/sandboxes/kit.ts";
import { kubernetes } from "../../../src/sandboxes/kubernetes.ts";
import { modal } from "../../../src/sandboxes/modal.ts";
import { noSandbox } from "../../../src/sandboxes/no-sandbox.ts";
import { podman } from "../../../src/sandboxes/podman.ts";
import { testIsolated } from "../../../src/sandboxes/test-isolated.ts";
import { vercel } from "../../../src/sandboxes/vercel.ts";
import * as testing from "../../../src/testing.ts";
import * as vitepress from "../../../src/vitepress/index.ts";
import * as sitePlugin from "../../../src/vitepress/plugin.ts";
import { thrownBy } from "../../helpers/processes/thrownBy.ts";

type Factory = (options: never) => unknown;

/** A factory that takes options: how it is called with them, and options that it needs in any case. */
interface Case {
  readonly call: Factory;
  readonly needs?: object;
}

const agents = {
  aider: library.aider,
  claudeCode: library.claudeCode,
  codex: library.codex,
  copilot: library.copilot,
  cursor: library.cursor,
  gemini: library.gemini,
  opencode: library.opencode,
  pi: library.pi,
};
const create = async () => {
  throw new Error("never called");
};
const SCHEMA = { "~standard": { version: 1, vendor: "test", validate: () => ({ value: 1 }) } };

const DESCRIPTION = {
  ...{ provider: "mine", name: "x", worktreePath: "/repo", fallbackHome: "/home" },
  ...{ launch: create, kill: create, diagnose: create, close: create },
};

/** What the plugin for a site makes of no records. */
const RECORDS = { summary: async () => ({}), scenarios: {} };

const FACTORIES: Readonly<Record<string, Case>> = {
  docker: { call: docker as Factory },
  podman: { call: podman as Factory },
  "docker, remote": { call: docker as Factory, needs: { host: "tcp://engine:2376" } },
  bubblewrap: { call: bubblewrap },
  kubernetes: { call: kubernetes },
  e2b: { call: e2b },
  vercel: { call: vercel },
  modal: { call: modal },
  testIsolated: { call: testIsolated },
  noSandbox: { call: noSandbox },
  ...Object.fromEntries(
    Object.entries(agents).map(([name, agent]) => [
      name,
      { call: (options: never) => agent("anthropic/m", options) },
    ]),
  ),
  command: { call: (options) => library.command("true", options) },
  scripted: { call: (step) => library.scripted([step]), needs: { commit: "x" } },
  createBindMountSandboxProvider: {
    call: library.createBindMountSandboxProvider,
    needs: { name: "mine", create },
  },
  createIsolatedSandboxProvider: {
    call: library.createIsolatedSandboxProvider,
    needs: { name: "mine", create },
  },
  commandSandbox: { call: kit.commandSandbox, needs: DESCRIPTION },
  isolatedCommandSandbox: { call: kit.isolatedCommandSandbox, needs: DESCRIPTION },
  killInSandbox: {
    call: (options) => kit.killInSandbox(create as never, options),
    needs: { ownsProcessNamespace: false },
  },
  "Output.object": { call: library.Output.object, needs: { tag: "a", schema: SCHEMA } },
  "Output.string": { call: library.Output.string, needs: { tag: "a" } },
  sandboxConformance: { call: (traits) => testing.sandboxConformance(create, traits) },
  scenarioRecords: { call: (options) => vitepress.scenarioRecords(RECORDS, options) },
  scenarioRecordsPlugin: { call: sitePlugin.scenarioRecordsPlugin, needs: { recordsDir: "runs" } },
};

/** No option takes any of these. */
const NEVER_RIGHT = [Symbol("x"), 1n, Number.NaN, null, new Date(0), [[]]];

const refusal = (call: Factory, options: unknown) => {
  const error = thrownBy(() => call(options as never));
  expect(error).toBeInstanceOf(library.InvalidOptionsError);
  return error as library.InvalidOptionsError;
};

describe.each(Object.entries(FACTORIES))("%s()", (_, { call, needs = {} }) => {
  it("takes what it needs", () => {
    expect(() => call(needs as never)).not.toThrow();
  });

  it("refuses an unknown option, and lists those that it has", () => {
    const { option, message, expected } = refusal(call, { ...needs, noSuchOption: 1 });
    expect(option).toContain("noSuchOption");
    expect(expected).not.toEqual([]);
    expect(message).toContain(`expected one of: ${expected?.join(", ")}`);
  });

  it("refuses what is inherited, which it would read as well", () => {
    const inheriting = (inherited: object) => Object.assign(Object.create(inherited), needs);
    const { option, expected = [] } = refusal(call, inheriting({ noSuchOption: 1 }));
    expect(option).toContain("noSuchOption");
    for (const name of expected.filter((name) => !(name in needs))) refusal(call, inheriting({ [name]: 1n }));
  });

  it("refuses options that are no options, of which it would read none", () => {
    for (const options of [null, "x", 1, [], new Map(), Promise.resolve({})]) refusal(call, options);
  });

  it("refuses a value of a wrong kind for each option that it has", () => {
    const { expected = [] } = refusal(call, { ...needs, noSuchOption: 1 });
    for (const name of expected) {
      for (const value of NEVER_RIGHT) {
        const { option } = refusal(call, { ...needs, [name]: value });
        expect(option, `${name}: ${String(value)}`).toMatch(new RegExp(`(^|[.\\]])${name}\\b`));
      }
    }
  });
});

const agent = library.command("true", { interactive: "true" });
const session = { agent, sandbox: testIsolated(), prompt: "x" };

/** They reject before anything is created. */
const ENTRY_POINTS: Readonly<Record<string, { readonly call: Factory; readonly needs: object }>> = {
  run: { call: library.run as Factory, needs: session },
  runAll: { call: (options) => library.runAll([], options), needs: {} },
  runScenarios: { call: library.runScenarios, needs: {} },
  interactive: { call: library.interactive, needs: session },
  createSandbox: { call: library.createSandbox, needs: { sandbox: testIsolated(), branch: "b" } },
  createWorktree: {
    call: library.createWorktree,
    needs: { branchStrategy: { type: "branch", branch: "b" } },
  },
  createStandaloneSandbox: {
    call: (options) => library.createStandaloneSandbox(testIsolated(), options),
    needs: {},
  },
};

describe.each(Object.entries(ENTRY_POINTS))("%s()", (_, { call, needs }) => {
  const rejection = async (options: object) => {
    const error = await Promise.resolve(call({ ...needs, ...options } as never)).catch((reason) => reason);
    expect(error).toBeInstanceOf(library.InvalidOptionsError);
    return error as library.InvalidOptionsError;
  };

  it("refuses an unknown option, and a wrong kind of value for each that it has", async () => {
    const { option, expected = [] } = await rejection({ noSuchOption: 1 });
    expect(option).toBe("noSuchOption");
    for (const name of expected) {
      for (const value of NEVER_RIGHT) {
        expect((await rejection({ [name]: value })).option, name).toMatch(new RegExp(`^${name}\\b`));
      }
    }
  });
});

/** Their definitions have checks of their own, or they take no options. */
const OTHERS = [
  "abortedRuns",
  "readDockerfile",
  "askLaunch",
  "shellQuote",
  "defineEnvironment",
  "suite",
  "Output",
  "RunRecords",
  "LatestRunsSummary",
];

it("every function of the package is among them", () => {
  const { exports } = JSON.parse(readFileSync("package.json", "utf8"));
  const sandboxes = { bubblewrap, docker, e2b, kubernetes, modal, noSandbox, podman, testIsolated, vercel };
  const entries = Object.keys(exports).filter((path) => path.startsWith("./sandboxes/"));
  expect(
    entries
      .map((path) => path.slice("./sandboxes/".length).replace(/-(\w)/g, (_, letter) => letter.toUpperCase()))
      .sort(),
  ).toEqual([...Object.keys(sandboxes), "kit"].sort());
  expect(
    Object.keys(exports)
      .filter((path) => !path.startsWith("./sandboxes/"))
      .sort(),
  ).toEqual([...[".", "./environment", "./package.json", "./testing", "./vitepress", "./vitepress/plugin"]]);
  const exported = {
    ...library,
    ...environment,
    ...testing,
    ...vitepress,
    ...sitePlugin,
    ...sandboxes,
    ...kit,
  };
  const isError = (value: unknown) => typeof value === "function" && value.prototype instanceof Error;
  const names = Object.entries(exported)
    .filter(([, value]) => !isError(value))
    .map(([name]) => name);
  expect(
    names.filter((name) => !(name in FACTORIES || name in ENTRY_POINTS || OTHERS.includes(name))),
  ).toEqual([]);
});

it("readDockerfile() takes a path", () => {
  for (const path of NEVER_RIGHT) refusal(library.readDockerfile as Factory, path);
});

it("readDockerfile() takes a path, and nothing else", () => {
  for (const path of [undefined, 5, "", {}]) {
    expect(() => library.readDockerfile(path as never)).toThrow(library.InvalidOptionsError);
  }
});

it("abortedRuns() takes a signal, and nothing else", () => {
  expect(() => library.abortedRuns({ signal: AbortSignal.abort() } as never)).toThrow(/signal.*AbortSignal/);
  expect(library.abortedRuns(AbortSignal.abort())).toEqual([]);
});

describe("defineEnvironment()", () => {
  const test = () => {};

  it.each([
    [{ tests: { a: test }, test: 1 }, "has `test`, which is unknown; expected one of: tests"],
    [{ tests: { a: test }, timeoutMs: "1" }, "has `timeoutMs`, which must be a number of milliseconds"],
    [{}, "has no `tests`"],
    [null, "is not what defineEnvironment"],
  ])("refuses %o at once", (definition, problem) => {
    expect(refusal(environment.defineEnvironment, definition).message).toContain(problem);
  });
});

describe("the network of bubblewrap()", () => {
  it.each([true, false, "host", "none", undefined] as const)("may be %s", (network) => {
    expect(() => bubblewrap({ network })).not.toThrow();
  });

  it.each(["None", "off", "no", "", 0, 1, [], ["none"], {}])("may not be %j, which opened it", (network) => {
    const { option, problem } = refusal(bubblewrap, { network });
    expect(option).toBe("network");
    expect(problem).toContain("expected one of: true, false, host, none");
  });
});

it("options are those of the call, whatever becomes of the object afterwards", () => {
  const options: { env?: object } = { env: { A: "1" } };
  const made = [
    ...([bubblewrap, docker, e2b, kubernetes, modal, noSandbox, testIsolated, vercel] as Factory[]),
    (given: never) => library.command("true", given),
  ].map((factory) => factory(options as never));
  options.env = { A: "2" };
  for (const provider of made) expect(provider).toMatchObject({ env: { A: "1" } });
});

it("an option is used as it was checked, also if it is another one when it is read again", () => {
  let reads = 0;
  const options = {
    get env() {
      return reads++ === 0 ? { A: "1" } : { A: 2 };
    },
  };
  expect(testIsolated(options as never)).toMatchObject({ env: { A: "1" } });
});

describe("former names", () => {
  it.each([docker, podman, kubernetes, vercel, modal] as Factory[])(
    "an image is an imageName: %o",
    (factory) => {
      expect(refusal(factory, { image: "x" }).message).toContain("Did you mean imageName?");
    },
  );

  it("times are in milliseconds, but for idleTimeoutSeconds", async () => {
    const attempt = library.run({ ...session, completionTimeoutSeconds: 1 } as never);
    await expect(attempt).rejects.toThrow("Did you mean completionTimeoutMs?");
  });
});

describe("a refusal", () => {
  it("names the option that was probably meant", () => {
    expect(refusal(docker as Factory, { allowUnsafeMount: true }).message).toContain(
      "Did you mean allowUnsafeMounts?",
    );
    expect(refusal((options) => library.codex("m", options), { effort: "hgh" }).message).toContain(
      "Did you mean high?",
    );
  });

  it("names the kind of the value, and not a text that may be a secret", () => {
    const { message } = refusal(docker as Factory, { cpus: "sk-secret" });
    expect(message).toBe("Option `cpus`: must be a number above 0; got a string");
  });

  it("tells which member of which element is wrong", () => {
    const mounts = [
      { hostPath: "a", sandboxPath: "/a" },
      { hostPath: "b", sandboxPath: "/b", readonly: true },
    ];
    expect(refusal(bubblewrap, { mounts })).toMatchObject({ option: "mounts[1].readonly" });
    expect(refusal(bubblewrap, { mounts: [{ hostPath: "a" }] })).toMatchObject({
      option: "mounts[0].sandboxPath",
    });
    expect(refusal(kubernetes, { resources: { limit: {} } })).toMatchObject({ option: "resources.limit" });
    expect(refusal(kubernetes, { resources: { limits: { cpu: 2 } } })).toMatchObject({
      option: "resources.limits",
    });
  });
});

it("a network that is an empty list, or says nothing, is not taken for the default", () => {
  for (const factory of [docker, podman] as Factory[]) {
    expect(refusal(factory, { network: [] }).option).toBe("network");
    expect(refusal(factory, { network: [""] }).option).toBe("network");
  }
  for (const factory of [e2b, vercel, modal] as Factory[]) {
    expect(refusal(factory, { network: {} }).option).toBe("network");
    expect(refusal(factory, { network: { domain: ["a"] } }).option).toBe("network.domain");
  }
});

import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, it } from "vitest";
import scenarioSchema from "../../../schemas/scenario.schema.json" with { type: "json" };
import suiteSchema from "../../../schemas/scenarios.schema.json" with { type: "json" };
import taskSchema from "../../../schemas/task.schema.json" with { type: "json" };
import { parseJsonText } from "../../../src/tools/json/jsonText.ts";
import type { Schema } from "../../../src/tools/json/schema.ts";
import { validate } from "../../../src/tools/json/validate.ts";

const problemsOf = (value: unknown, schema: Schema): string[] =>
  validate(parseJsonText(JSON.stringify(value)).node, schema).map(({ problem }) => problem);

const isRegex = (text: string): boolean => {
  try {
    return Boolean(new RegExp(text));
  } catch {
    return false;
  }
};

/** The verdict of the validator that editors use. In strict mode, a keyword that it does not know is an error. */
const ajv = new Ajv2020({
  strict: true,
  strictRequired: false,
  strictTuples: false,
  formats: { regex: isRegex },
});
const isScenario = ajv.compile(scenarioSchema);
const isSuite = ajv.compile(suiteSchema);

const step = (value: unknown) => ({ runnable: "manual", steps: [value] });
const prerequisite = (value: unknown) => ({ runnable: "manual", prerequisites: [value] });
const assertion = (value: unknown) => ({ runnable: "manual", assertions: [value] });
const path = (value: unknown) => assertion({ file_exists: value });

const HASH = "0123456789abcdefABCDEF".padEnd(64, "0");

const GOOD: unknown[] = [
  ...["cli", "agent", "both", "manual"].map((runnable) => ({ runnable })),
  {
    $schema: "scenario.schema.json",
    runnable: "agent",
    fixture: "fixtures/sandbox-node-ts",
    ide_platform: "cursor",
    prerequisites: [],
    steps: [],
    assertions: [],
    helpers: ["scripts/check.py"],
    notes: "",
  },
  step({ name: "Install", cli: "install", flags: ["--with=cli", ""], allow_nonzero: true, timeout_ms: 1 }),
  step({ cmd: ["node", "-e", ""], timeout_ms: 60_000 }),
  step({ append_to_file: { path: "a b/ü.txt", content: "" } }),
  step({ write_file: { path: "./a/..b/.c", content: "x" }, allow_nonzero: false }),
  step({ agent: "install" }),
  step({ agent: "boot", prompt: "hi", model: "composer-2", timeout_ms: 5, name: "" }),
  prerequisite({ cli: "install" }),
  prerequisite({ cmd: ["git", "init"] }),
  ...["file_exists", "file_absent", "dir_exists", "dir_absent"].map((key) => assertion({ [key]: "a/b/" })),
  assertion({ file_contains: { path: "a", substr: " " } }),
  assertion({ file_matches: { path: "a", regex: "^v0\\.1\\." } }),
  assertion({ sha256_equals: { path: "a", sha256: HASH } }),
  assertion({ cmd_zero: ["python3", "scripts/check.py", "--root", "."] }),
  assertion({ cmd_nonzero: ["false"] }),
  assertion({ git_clean: true }),
  assertion({ git_clean: false }),
  ...["a..b", "..a", "a..", "-x", "ab:c", "a\nb", "..."].map(path),
];

const BAD: [value: unknown, words: string][] = [
  [[], "must be an object, and is a list"],
  [null, "must be an object, and is null"],
  [{}, 'the key "runnable" is missing'],
  [{ runnable: "CLI" }, 'runnable: must be one of "cli", "agent", "both", "manual", and is "CLI"'],
  [{ runnable: 1 }, "runnable: must be a text, and is 1"],
  [{ runnable: "cli", fixtures: "x" }, 'no key "fixtures". Did you mean "fixture"?'],
  [{ runnable: "cli", toString: "x" }, 'no key "toString"'],
  [{ runnable: "cli", steps: {} }, "steps: must be a list, and is an object"],
  [{ runnable: "cli", ide_platform: "" }, "ide_platform: must not be empty"],
  [{ runnable: "cli", helpers: ["/x"] }, "helpers[0]: must be a relative path"],
  [step("install"), 'steps[0]: must be an object, and is "install"'],
  [
    step({}),
    "steps[0]: this step must have exactly one of cli, cmd, append_to_file, write_file, agent, and has nothing",
  ],
  [step({ name: "x" }), 'has "name"'],
  [step({ cli: "a", cmd: ["b"] }), 'has "cli", "cmd"'],
  [step({ comand: ["b"], cmdd: ["b"] }), 'Did you mean "cmd"?'],
  [
    step({ cli: "a", flag: [] }),
    'steps[0]: there is no key "flag". Did you mean "flags"? Expected one of: name, cli, flags',
  ],
  [
    step({ cmd: ["a"], flags: [] }),
    'there is no key "flags". Expected one of: name, cmd, allow_nonzero, timeout_ms',
  ],
  [step({ cli: "" }), "steps[0].cli: must be a text that is not empty"],
  [step({ cli: "a", flags: "--yes" }), "steps[0].flags: must be a list"],
  [step({ cli: "a", flags: [1] }), "steps[0].flags[0]: must be a text, and is 1"],
  [step({ cmd: [] }), "steps[0].cmd: must not be empty"],
  [step({ cmd: [""] }), "steps[0].cmd[0]: must be a text that is not empty"],
  [step({ cmd: "npm test" }), 'steps[0].cmd: must be a list, and is "npm test"'],
  [step({ cmd: ["a", "b\0"] }), "a text without a NUL"],
  [step({ write_file: { path: "a" } }), 'steps[0].write_file: the key "content" is missing'],
  [step({ write_file: { path: "a", content: 1 } }), "steps[0].write_file.content: must be a text"],
  [
    step({ append_to_file: { path: "../a", content: "" } }),
    "steps[0].append_to_file.path: must be a relative path",
  ],
  [step({ agent: "a", prompt: "" }), "steps[0].prompt: must not be empty"],
  [step({ cmd: ["a"], prompt: "x" }), 'there is no key "prompt"'],
  [step({ cmd: ["a"], allow_nonzero: "yes" }), 'allow_nonzero: must be true or false, and is "yes"'],
  [step({ agent: "boot", model: "--yolo" }), "model: must be the name of a model"],
  [step({ cmd: ["a"], timeout_ms: 0 }), "timeout_ms: must be at least 1, and is 0"],
  [step({ cmd: ["a"], timeout_ms: 1.5 }), "timeout_ms: must be a whole number, and is 1.5"],
  [step({ cmd: ["a"], timeout_ms: 2 ** 31 }), "timeout_ms: must be at most 2147483647"],
  [
    prerequisite({ agent: "install" }),
    'this prerequisite must have exactly one of cli, cmd, append_to_file, write_file, and has "agent"',
  ],
  [assertion({}), "this assertion must have exactly one of file_exists"],
  [assertion({ file_exist: "a" }), 'Did you mean "file_exists"?'],
  [assertion({ file_exists: "a", dir_exists: "b" }), 'has "file_exists", "dir_exists"'],
  [assertion({ file_exists: "a", name: "b" }), 'there is no key "name"'],
  [assertion({ file_exists: ["a"] }), "assertions[0].file_exists: must be a text, and is a list"],
  [assertion({ file_contains: { path: "a", substring: "b" } }), 'no key "substring". Did you mean "substr"?'],
  [assertion({ file_contains: { path: "a", substr: "" } }), "substr: must not be empty"],
  [assertion({ sha256_equals: { path: "a", sha256: "abc" } }), "sha256: must be 64 hexadecimal digits"],
  [
    assertion({ file_matches: { path: "a", regex: "(" } }),
    "assertions[0].file_matches.regex: must be a regular expression",
  ],
  [assertion({ cmd_zero: [] }), "cmd_zero: must not be empty"],
  [assertion({ git_clean: "true" }), 'git_clean: must be true or false, and is "true"'],
  ...[
    "",
    "/etc/passwd",
    "..",
    "../a",
    "a/..",
    "a/../b",
    "a\n/../b",
    "~",
    "~/a",
    "C:/a",
    "c:a",
    "a\\b",
    "a\0b",
  ].map((way): [unknown, string] => [path(way), "a relative path with slashes that stays where it begins"]),
];

describe("the published schema of a scenario", () => {
  it.each(GOOD)("accepts what is right, as ajv does: %j", (value) => {
    expect(problemsOf(value, scenarioSchema)).toEqual([]);
    expect(isScenario(value), ajv.errorsText(isScenario.errors)).toBe(true);
  });

  it.each(BAD)("refuses what is wrong, as ajv does: %j", (value, words) => {
    expect(problemsOf(value, scenarioSchema).join("\n")).toContain(words);
    expect(isScenario(value)).toBe(false);
  });
});

const SUITES: [value: unknown, words: string | undefined][] = [
  [{}, undefined],
  [
    {
      $schema: "x",
      scenarioDir: "../docs",
      fixturesRoot: "/absolute",
      mirrorDir: ".",
      recordsDir: "runs",
      versionFile: "manifest.json#version",
      cliCommand: ["node", "bin/tool.mjs", "{subcommand}"],
      productName: "Tool",
      siteUrl: "https://example.com/",
      prompts: { install: "Install it.", "any word": "x" },
    },
    undefined,
  ],
  [{ scenariosDir: "x" }, 'no key "scenariosDir". Did you mean "scenarioDir"?'],
  [{ scenarioDir: "" }, "scenarioDir: must be a text that is not empty"],
  [{ cliCommand: "node" }, "cliCommand: must be a list"],
  [{ cliCommand: [] }, "cliCommand: must not be empty"],
  [{ siteUrl: "example.com" }, "siteUrl: must be an address that begins with http"],
  [{ prompts: { install: 1 } }, "prompts.install: must be a text"],
  [{ prompts: { install: "" } }, "prompts.install: must not be empty"],
];

it.each(SUITES)("has a schema of the config file that ajv reads in the same way: %j", (value, words) => {
  const problems = problemsOf(value, suiteSchema);
  if (words === undefined) expect(problems).toEqual([]);
  else expect(problems.join("\n")).toContain(words);
  expect(isSuite(value)).toBe(words === undefined);
});

const VALUES: readonly unknown[] = [
  null,
  true,
  "",
  "x",
  "/x",
  "(",
  -1,
  0,
  1.5,
  2 ** 31,
  [],
  [""],
  ["x"],
  {},
  { x: 1 },
];

/** A value with each of its parts replaced, with each member left out, and with an unknown member. */
const variantsOf = (value: unknown): unknown[] => {
  if (Array.isArray(value)) {
    const changed = value.flatMap((item, index) =>
      variantsOf(item).map((variant) => value.toSpliced(index, 1, variant)),
    );
    return [...VALUES, ...changed];
  }
  if (typeof value !== "object" || value === null) return [...VALUES];
  const changed = Object.entries(value).flatMap(([key, member]) => {
    const { [key]: _, ...others } = value as Record<string, unknown>;
    return [others, ...variantsOf(member).map((variant) => ({ ...value, [key]: variant }))];
  });
  return [...VALUES, { ...value, unknownKey: "x" }, ...changed];
};

const TASK = {
  ...{ prompt: "x", promptFile: "p", promptArgs: { A: 1 }, name: "n", cwd: "c", branch: "b", from: "f" },
  ...{ mergeToHead: true, head: true, copyToWorktree: ["x"], agent: "a", model: "m", agentCommand: "c" },
  ...{ effort: "high", sandbox: "s", imageName: "i", env: ["A"], maxIterations: 3, completionSignal: ["D"] },
  ...{ maxTokens: 5, maxCostUsd: 0.5, outputTag: "t", idleTimeoutSeconds: 60, completionTimeoutMs: 500 },
  ...{ onRateLimit: { waitUpToMs: 1 }, timeouts: { copyToWorktreeMs: 1, promptExpansionMs: 2 } },
  ...{ environment: "e", isolation: "strict", until: "tests-pass", trajectory: true, artifacts: ["*"] },
  ...{ resumeSession: "s", forkSession: true },
};

it.each([
  ["scenario", scenarioSchema as Schema, GOOD],
  ["suite", suiteSchema as Schema, SUITES.map(([value]) => value)],
  ["task", taskSchema as Schema, [TASK]],
])("judges every change of a right %s as ajv does", (_, schema, values) => {
  const isRight = ajv.compile(schema);
  const verdicts = values.flatMap(variantsOf).map((value) => ({
    value: JSON.stringify(value),
    ours: problemsOf(value, schema).length === 0,
    ajv: isRight(value),
  }));
  expect(verdicts.filter((each) => each.ours !== each.ajv)).toEqual([]);
  expect(new Set(verdicts.map(({ ajv }) => ajv)).size).toBe(2);
});

const KEYWORDS = [
  ...["$schema", "$ref", "$defs", "title", "description", "type", "enum", "properties", "required"],
  ...["additionalProperties", "prefixItems", "items", "minItems", "minLength", "minimum", "maximum"],
  ...["pattern", "format", "oneOf"],
];

/** A schema with all schemas in it. */
const allIn = (schema: Schema): Schema[] => {
  const { $defs, properties, additionalProperties, prefixItems, items, oneOf } = schema;
  const children = [
    ...Object.values($defs ?? {}),
    ...Object.values(properties ?? {}),
    ...(typeof additionalProperties === "object" ? [additionalProperties] : []),
    ...(prefixItems ?? []),
    ...(items === undefined ? [] : [items]),
    ...(oneOf ?? []),
  ];
  return [schema, ...children.filter((child) => child !== undefined).flatMap(allIn)];
};

it.each([
  ["scenario", scenarioSchema as Schema],
  ["suite", suiteSchema as Schema],
  ["task", taskSchema as Schema],
])("keeps to what the validator understands: %s", (_, root) => {
  for (const schema of allIn(root)) {
    expect(KEYWORDS).toEqual(expect.arrayContaining(Object.keys(schema)));
    // Not everybody reads what stands beside a reference.
    if (schema.$ref !== undefined)
      expect(["$ref", "description"]).toEqual(expect.arrayContaining(Object.keys(schema)));
    // A problem with a pattern is told in the words of the description.
    if (schema.pattern !== undefined) expect(schema.description).toBeTruthy();
    const tags = (schema.oneOf ?? []).map((alternative) => {
      const name = alternative.$ref?.replace("#/$defs/", "");
      const { required, additionalProperties } =
        name === undefined ? alternative : (root.$defs?.[name] ?? {});
      expect(required).toHaveLength(1);
      expect(additionalProperties).toBe(false);
      return required?.[0];
    });
    expect(new Set(tags).size).toBe(tags.length);
  }
});

import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { NoCliCommandError } from "../../../src/errors/commandErrors.ts";
import { cliArguments } from "../../../src/scenarios/execution/cliArguments.ts";
import { performPlainStep, stepName } from "../../../src/scenarios/execution/plainSteps.ts";
import { ProjectFiles } from "../../../src/scenarios/project/projectFiles.ts";
import { hostCommandRunner } from "../../../src/scenarios/sandbox/hostCommandRunner.ts";
import type { PlainStep, ScenarioStep } from "../../../src/scenarios/spec.ts";
import type { ScenarioSuite } from "../../../src/scenarios/suite/suite.ts";
import { temporaryDirectory } from "../../helpers/repository/repository.ts";

const TEMPLATE = ["tool", "{subcommand}", "{projectRoot}", "--yes", "--base-url={baseUrl}", "{...flags}"];

test.each([
  [
    "the flags take their place",
    TEMPLATE,
    ["-a", "b c"],
    "http://m",
    ["tool", "go", "/p", "--yes", "--base-url=http://m", "-a", "b c"],
  ],
  ["without a base URL its option goes", TEMPLATE, undefined, undefined, ["tool", "go", "/p", "--yes"]],
  [
    "without a base URL an argument that is more than its option stays",
    ["tool", "{baseUrl}", "at:{baseUrl}", "--url={baseUrl}/x"],
    [],
    undefined,
    ["tool", "", "at:", "--url=/x"],
  ],
  [
    "placeholders are filled in wherever they stand",
    ["tool", "{subcommand}@{projectRoot}@{subcommand}"],
    [],
    undefined,
    ["tool", "go@/p@go"],
  ],
  [
    "what is filled in is taken literally",
    ["tool", "{...flags}", "{baseUrl}"],
    ["{projectRoot}", "{...flags}", "$&"],
    "{subcommand}$&",
    ["tool", "{projectRoot}", "{...flags}", "$&", "{subcommand}$&"],
  ],
  [
    "what is no placeholder stays",
    ["tool", "{other}", "x{...flags}"],
    ["-a"],
    undefined,
    ["tool", "{other}", "x{...flags}"],
  ],
] as const)("In the command of a suite's tool, %s", (_, template, flags, baseUrl, expected) => {
  const step = { cli: "go", ...(flags && { flags }) };
  expect(cliArguments(template, step, { projectRoot: "/p", baseUrl })).toEqual(expected);
});

test.each<[ScenarioStep, string]>([
  [{ name: "Its own", cli: "install" }, "Its own"],
  [{ cli: "install", flags: ["--with=cli"] }, "cli: install --with=cli"],
  [{ cmd: ["node", "-e", "a\n  b"] }, "cmd: node -e a b"],
  [{ cmd: ["x".repeat(200)] }, `cmd: ${"x".repeat(94)}…`],
  [{ write_file: { path: "a", content: "" } }, "write_file: a"],
  [{ append_to_file: { path: "a", content: "" } }, "append_to_file: a"],
  [{ agent: "install" }, "agent: install"],
])("The step %j is called %j", (step, name) => {
  expect(stepName(step)).toBe(name);
});

const performIn = (cliCommand?: readonly string[], timeoutMs = 30_000) => {
  const project = temporaryDirectory();
  const commandRunner = hostCommandRunner(project);
  onTestFinished(() => commandRunner.close());
  const suite: ScenarioSuite = {
    root: project,
    scenarioDir: project,
    fixturesRoot: project,
    recordsDir: project,
    ...(cliCommand && { cliCommand }),
  };
  const files = new ProjectFiles(project);
  const { signal } = new AbortController();
  const perform = (step: PlainStep) =>
    performPlainStep(step, { commandRunner, files, suite, baseUrl: "http://mirror", timeoutMs, signal });
  return { project, perform };
};

const PRINT_ARGUMENTS = "console.log(JSON.stringify(process.argv.slice(1))); process.exitCode = 3";

test("A cli step runs the suite's tool in the project", async () => {
  const { project, perform } = performIn([
    "node",
    "-e",
    PRINT_ARGUMENTS,
    "{subcommand}",
    "{projectRoot}",
    "{baseUrl}",
  ]);
  const { code, stdout } = await perform({ cli: "install" });
  expect(code).toBe(3);
  expect(JSON.parse(stdout)).toEqual(["install", project, "http://mirror"]);
});

test("A cli step in a suite without a tool is an error that says what to add", async () => {
  const { perform } = performIn();
  await expect(perform({ cli: "install" })).rejects.toThrow(NoCliCommandError);
  await expect(perform({ cli: "install" })).rejects.toThrow('Add "cliCommand"');
});

test("A cmd step gets its arguments as they are, and no shell", async () => {
  const { perform } = performIn();
  expect(await perform({ cmd: ["printf", "%s|", "$HOME", "{projectRoot}", "a;b"] })).toEqual({
    code: 0,
    stdout: "$HOME|{projectRoot}|a;b|",
    stderr: "",
  });
});

test("A program that is missing ends with 127, and one that takes too long with 124", async () => {
  const { perform } = performIn(undefined, 200);
  expect((await perform({ cmd: ["no-such-program"] })).code).toBe(127);
  expect((await perform({ cmd: ["sleep", "60"] })).code).toBe(124);
});

test("The runner's own git variables do not reach a step", async () => {
  process.env["GIT_DIR"] = "/nonexistent";
  onTestFinished(() => {
    delete process.env["GIT_DIR"];
  });
  const { perform } = performIn();
  expect((await perform({ cmd: ["git", "init", "--quiet"] })).code).toBe(0);
  expect((await perform({ cmd: ["git", "status", "--porcelain"] })).code).toBe(0);
});

test("Files are written and appended to, and the step says so", async () => {
  const { project, perform } = performIn();
  expect(await perform({ write_file: { path: "new/a.txt", content: "one\n" } })).toEqual({
    code: 0,
    stdout: "wrote new/a.txt",
    stderr: "",
  });
  expect(await perform({ append_to_file: { path: "new/a.txt", content: "two\n" } })).toEqual({
    code: 0,
    stdout: "appended to new/a.txt",
    stderr: "",
  });
  expect(readFileSync(join(project, "new/a.txt"), "utf8")).toBe("one\ntwo\n");
});

test.each([
  ["../out.txt", /it leads outside/],
  ["out/a.txt", /it leads outside/],
  ["sub", /it is a directory/],
  ["file/below", /file already exists|not a directory/],
])("A file at %j cannot be written: the step fails and says why", async (path, reason) => {
  const { project, perform } = performIn();
  mkdirSync(join(project, "sub"));
  writeFileSync(join(project, "file"), "");
  symlinkSync("/nonexistent", join(project, "out"));
  for (const kind of ["write_file", "append_to_file"] as const) {
    const result = await perform({ [kind]: { path, content: "x" } } as unknown as PlainStep);
    expect(result).toEqual({ code: 1, stdout: "", stderr: expect.stringMatching(reason) });
    expect(result.stderr).not.toContain(project);
  }
});

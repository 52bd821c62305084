import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { HelperFileError } from "../../../src/errors/commandErrors.ts";
import { rememberHelpers } from "../../../src/scenarios/grading/helperFiles.ts";
import { ProjectFiles } from "../../../src/scenarios/project/projectFiles.ts";
import { isAgentStep, type PlainStep, type ScenarioSpec } from "../../../src/scenarios/spec.ts";
import { temporaryDirectory } from "../../helpers/repository/repository.ts";

const BYTES = Buffer.from([0, 255, 10, 13]);

const projectWith = (...paths: readonly string[]) => {
  const project = temporaryDirectory();
  for (const path of paths) {
    mkdirSync(dirname(join(project, path)), { recursive: true });
    writeFileSync(join(project, path), BYTES);
    chmodSync(join(project, path), 0o750);
  }
  return { project, files: new ProjectFiles(project) };
};

const specWith = (more: Partial<ScenarioSpec>): ScenarioSpec => ({
  runnable: "agent",
  steps: [{ agent: "install" }],
  ...more,
});

test("Unchanged helpers are left alone", async () => {
  const { project, files } = projectWith("check.sh");
  const before = lstatSync(join(project, "check.sh"));
  const restore = await rememberHelpers(specWith({ helpers: ["check.sh"] }), [], files);
  expect(await restore()).toEqual([]);
  expect(lstatSync(join(project, "check.sh")).ctimeMs).toBe(before.ctimeMs);
});

test.each<[string, (project: string, outside: string) => void]>([
  ["changed", (project) => writeFileSync(join(project, "tests/a/check.sh"), "exit 0")],
  [
    "changed without changing its length",
    (project) => writeFileSync(join(project, "tests/a/check.sh"), "true"),
  ],
  ["made executable for others", (project) => chmodSync(join(project, "tests/a/check.sh"), 0o777)],
  ["deleted", (project) => rmSync(join(project, "tests/a/check.sh"))],
  ["deleted with its directories", (project) => rmSync(join(project, "tests"), { recursive: true })],
  [
    "replaced by a directory",
    (project) => {
      rmSync(join(project, "tests/a/check.sh"));
      mkdirSync(join(project, "tests/a/check.sh/below"), { recursive: true });
    },
  ],
  [
    "replaced by a link to a copy of it",
    (project) => {
      renameSync(join(project, "tests/a/check.sh"), join(project, "copy"));
      symlinkSync("../../copy", join(project, "tests/a/check.sh"));
    },
  ],
  [
    "replaced by a link to something outside",
    (project, outside) => {
      rmSync(join(project, "tests/a/check.sh"));
      symlinkSync(join(outside, "precious"), join(project, "tests/a/check.sh"));
    },
  ],
  [
    "behind a directory that is a link to something outside",
    (project, outside) => {
      rmSync(join(project, "tests"), { recursive: true });
      symlinkSync(outside, join(project, "tests"));
    },
  ],
  [
    "behind a directory that is a file",
    (project) => {
      rmSync(join(project, "tests"), { recursive: true });
      writeFileSync(join(project, "tests"), "");
    },
  ],
  [
    "behind directories that were closed, one of them the project",
    (project) => {
      writeFileSync(join(project, "tests/a/check.sh"), "exit 0");
      for (const path of ["tests/a", "tests", "."]) chmodSync(join(project, path), 0o500);
      chmodSync(join(project, "tests/a"), 0);
    },
  ],
])("A helper that was %s is restored with its mode, and reported", async (_, spoil) => {
  const { project, files } = projectWith("tests/a/check.sh");
  const outside = temporaryDirectory();
  mkdirSync(join(outside, "a"));
  writeFileSync(join(outside, "precious"), "precious");
  const restore = await rememberHelpers(specWith({ helpers: ["./tests/a/check.sh"] }), [], files);
  spoil(project, outside);

  expect(await restore()).toEqual(["tests/a/check.sh"]);

  const status = lstatSync(join(project, "tests/a/check.sh"));
  expect(status.isFile()).toBe(true);
  expect(status.mode & 0o7777).toBe(0o750);
  expect(readFileSync(join(project, "tests/a/check.sh"))).toEqual(BYTES);
  expect(lstatSync(join(project, "tests")).isDirectory()).toBe(true);
  expect(readFileSync(join(outside, "precious"), "utf8")).toBe("precious");
  expect(readdirSync(join(outside, "a"))).toEqual([]);
  expect(await restore()).toEqual([]);
});

const doneBeforeAgent = ({ prerequisites = [], steps = [] }: ScenarioSpec): PlainStep[] => {
  const before = steps.slice(0, steps.findIndex(isAgentStep));
  return [...prerequisites, ...before.filter((step): step is PlainStep => !isAgentStep(step))];
};

const write = (path: string) => ({ write_file: { path, content: "" } });

test.each<[string, Partial<ScenarioSpec>, readonly string[]]>([
  [
    "written by a prerequisite for a command",
    { prerequisites: [write("a")], assertions: [{ cmd_zero: ["sh", "./a"] }] },
    ["a"],
  ],
  [
    "written by a step for a command",
    { steps: [write("./a"), { agent: "go" }], assertions: [{ cmd_nonzero: ["sh", "a"] }] },
    ["a"],
  ],
  [
    "named in an option",
    { prerequisites: [write("sub/a")], assertions: [{ cmd_zero: ["check", "--config=sub/a"] }] },
    ["sub/a"],
  ],
  [
    "written for the command of a step",
    { steps: [write("a"), { agent: "go" }, { cmd: ["sh", "a"] }], assertions: [{ file_exists: "b" }] },
    ["a"],
  ],
  [
    "written for nothing",
    { prerequisites: [write("a")], assertions: [{ cmd_zero: ["sh", "b"] }, { file_exists: "a" }] },
    [],
  ],
  [
    "written after the agent",
    { steps: [{ agent: "go" }, write("a")], assertions: [{ cmd_zero: ["sh", "a"] }] },
    [],
  ],
  [
    "written, and gone before the agent came",
    { prerequisites: [write("gone")], assertions: [{ cmd_zero: ["sh", "gone"] }] },
    [],
  ],
  ["part of the fixture, and not named as a helper", { assertions: [{ cmd_zero: ["sh", "a"] }] }, []],
])("Of files that are %s, the right ones are put back", async (_, more, expected) => {
  const { project, files } = projectWith("a", "b", "sub/a");
  const spec = specWith(more);
  const restore = await rememberHelpers(spec, doneBeforeAgent(spec), files);
  for (const path of ["a", "b", "sub/a"]) writeFileSync(join(project, path), "spoilt");
  expect(await restore()).toEqual(expected);
});

test.each([
  ["missing.sh", "there is no such file"],
  ["sub", "it is a directory"],
  ["../outside.sh", "it leads outside"],
  ["link.sh", "a symbolic link leads there"],
  ["linked/a", "a symbolic link leads there"],
])("The helper %j is refused before the agent starts", async (path, reason) => {
  const { project, files } = projectWith("sub/a");
  symlinkSync("sub/a", join(project, "link.sh"));
  symlinkSync("sub", join(project, "linked"));
  const remembering = rememberHelpers(specWith({ helpers: [path] }), [], files);
  await expect(remembering).rejects.toThrow(HelperFileError);
  await expect(remembering).rejects.toThrow(reason);
});

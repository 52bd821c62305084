import { existsSync } from "node:fs";
import { delimiter, isAbsolute, join, relative, resolve } from "node:path";
import { runProcess } from "../../../process/runProcess.ts";
import { mayLeaveOut, type Omissions } from "../known/leftOut.ts";
import { type KnownTests, testFilesOf } from "../known/testFiles.ts";
import { channelSource } from "../sources.ts";
import type { CommandPlaces, SuiteCommand } from "../suiteCommand.ts";
import { imageProgram, isOfWork } from "./findRunners.ts";
import listPytestTests from "./programs/listPytestTests.py?text";
import runPytest from "./programs/runPytest.py?text";
import { RunnerReport } from "./runnerReport.ts";

const isTest = (path: string): boolean => /(?:^|\/)test_[^/]*\.py$|_test\.py$/.test(path);
const LIST_TIMEOUT_MS = 20_000;
const CONFIG = "pytest.ini";
const CONFIG_FILES = [CONFIG, ".pytest.ini", "pyproject.toml", "tox.ini", "setup.cfg"];
const PYTHON_PATH = "PYTHONPATH";

const findConfig = (environment: string): string | undefined =>
  CONFIG_FILES.map((name) => join(environment, name)).find((file) => existsSync(file));

/** The tests in files, as Python's parser reads them. No file is imported. */
const readTests = async (
  python: string,
  files: readonly string[],
  directory: string,
): Promise<KnownTests> => {
  if (files.length === 0) return new Map();
  const listed = await runProcess({
    ...{ program: python, args: ["-I", "-c", listPytestTests], cwd: directory, stdin: JSON.stringify(files) },
    ...{ timeoutMs: LIST_TIMEOUT_MS, captureBytes: 16 * 1024 * 1024 },
  }).catch(() => undefined);
  try {
    const tests: Record<string, string[][]> = JSON.parse(listed?.stdout ?? "");
    return new Map(files.map((file) => [file, tests[file] ?? []]));
  } catch {
    return new Map(files.map((file) => [file, []]));
  }
};

const OMISSIONS: Omissions = {
  isSource: (path) => path.endsWith(".py"),
  words: /skip|xfail|collect|deselect|__test__/i,
};

/** Uses a configuration file of the environment, and never one of the work. */
const configOf = (args: readonly string[], { environment, reports }: CommandPlaces): string[] => {
  const isGiven = args.some((each) => /^(?:-c|--config-file)(?:=|$)/.test(each));
  return [
    ...(isGiven ? [] : ["-c", findConfig(environment) ?? join(reports, CONFIG)]),
    `--rootdir=${environment}`,
    `--confcutdir=${environment}`,
  ];
};

/**
 * pytest of the image, loaded before any code of the work: Python looks for modules in the work only once pytest and its plug-ins are
 * loaded, and even then after its own library.
 */
export const pytest = async (
  args: readonly string[],
  isOfEnvironment: boolean,
  places: CommandPlaces,
  env: Readonly<Record<string, string | undefined>>,
): Promise<SuiteCommand> => {
  const { cwd, environment } = places;
  const program = imageProgram("python3", places.path, places);
  const files = isOfEnvironment ? testFilesOf(args, environment, isTest) : [];
  const paths = (env[PYTHON_PATH] ?? "").split(delimiter);
  const isTrusted = (path: string) => isAbsolute(path) && !isOfWork(path, places);
  const ofWork = [
    cwd,
    ...paths.filter((path) => path !== "" && !isTrusted(path)).map((path) => resolve(cwd, path)),
  ];
  const rootOf = (file: string) => relative(isOfEnvironment ? environment : cwd, file).replace(/\.py$/, "");
  const moduleOf = (file: string): string => rootOf(file).replaceAll("/", ".");
  const report = new RunnerReport({
    before: new Map(
      [...(await readTests(program, files, places.reports))].map(([file, tests]) => [
        file,
        tests.map((names) => [[moduleOf(file), ...names.slice(0, -1)].join("."), names.at(-1) ?? ""]),
      ]),
    ),
    mustAllRun:
      isOfEnvironment &&
      env["PYTEST_ADDOPTS"] === undefined &&
      findConfig(environment) === undefined &&
      !mayLeaveOut(args, environment, OMISSIONS),
    fileNames: (file) => ({ before: [], own: [moduleOf(file)] }),
  });
  return {
    title: "pytest",
    program,
    args: [
      "-c",
      runPytest,
      JSON.stringify({ cwd, ofWork, pythonPath: env[PYTHON_PATH] }),
      "-p",
      "no:cacheprovider",
      ...(isOfEnvironment ? configOf(args, places) : []),
      ...args,
    ],
    // Version managers for Python read files of the directory in which they start.
    startIn: places.reports,
    env: {
      PYTHONDONTWRITEBYTECODE: "1",
      [PYTHON_PATH]: paths.filter(isTrusted).join(delimiter) || undefined,
    },
    files: { [CONFIG]: "[pytest]\n" },
    source: channelSource(report),
    exitCodes: [0, 1],
    remedy:
      "Check that pytest is installed where the tests run. To install it, add to setup.sh of the environment: python3 -m pip install pytest",
  };
};

import { resolve } from "node:path";
import { type CommandSuite, type RunnerSuite, SCRATCH_PREFIX, type SuiteDefinition } from "./definition.ts";
import { fillPlaces } from "./places.ts";
import { parseJunit } from "./reports/junit.ts";
import { parseTap } from "./reports/tap.ts";
import { pathOutsideOfWork } from "./runners/findRunners.ts";
import { goTestCommand } from "./runners/goTest.ts";
import { nodeTest } from "./runners/nodeTest.ts";
import { pytest } from "./runners/pytest.ts";
import { vitest } from "./runners/vitest.ts";
import { fileSource, outputSource } from "./sources.ts";
import type { CommandPlaces, SuiteCommand } from "./suiteCommand.ts";

type Env = Readonly<Record<string, string | undefined>>;

const commandOfRunner = (
  { runner, args: given = [], runnerFrom }: RunnerSuite,
  places: CommandPlaces,
  env: Env,
): SuiteCommand | string | Promise<SuiteCommand> => {
  const args = given.map((each) => fillPlaces(each, places));
  // Whether the tests belong to the environment, and not to the work.
  const isOfEnvironment = given.some((each) => each.includes("{environment}"));
  switch (runner) {
    case "vitest":
      return vitest({ args, isOfEnvironment, runnerFrom }, places);
    case "node":
      return nodeTest(args, places);
    case "pytest":
      return pytest(args, isOfEnvironment, places, env);
    case "go":
      return goTestCommand(args, places);
  }
};

const runnerCommand = async (
  definition: RunnerSuite,
  places: CommandPlaces,
  env: Env,
): Promise<SuiteCommand | string> => {
  const command = await commandOfRunner(definition, places, env);
  if (typeof command === "string") return command;
  // Runners start other programs.
  return { ...command, env: { ...command.env, PATH: pathOutsideOfWork(places.path, places) } };
};

const shellCommand = ({ command, format, report }: CommandSuite, places: CommandPlaces): SuiteCommand => {
  const parse = format === "junit" ? parseJunit : parseTap;
  const roots = [places.worktree, places.scratch];
  const isInScratch = report?.startsWith(SCRATCH_PREFIX) === true;
  const file =
    report === undefined ? undefined : resolve(places.cwd, isInScratch ? fillPlaces(report, places) : report);
  const source = file === undefined ? outputSource(parse) : fileSource(file, roots, parse);
  return {
    title: "The command",
    program: "sh",
    args: ["-c", command],
    ...(format !== "exit-code" && { source }),
    ...(file !== undefined && { reportFile: file }),
    remedy:
      file === undefined
        ? "Check that it prints its report to standard output, and nothing else that looks like a report."
        : `Check that it writes its report to ${report}.`,
  };
};

/** How to run a suite; a sentence if it cannot be run. */
export const commandOf = async (
  definition: SuiteDefinition,
  places: CommandPlaces,
  env: Env,
): Promise<SuiteCommand | string> =>
  "runner" in definition ? runnerCommand(definition, places, env) : shellCommand(definition, places);

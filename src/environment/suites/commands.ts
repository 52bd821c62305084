import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { findProgram } from "../../process/hostPrograms.ts";
import { type CommandSuite, type RunnerSuite, SCRATCH_PREFIX, type SuiteDefinition } from "./definition.ts";
import { parseJunit } from "./junit.ts";
import { fillPlaces, type SuitePlaces, shownFile } from "./places.ts";
import { fileSource, goSource, outputSource, type ReportSource } from "./sources.ts";
import { parseTap } from "./tap.ts";

/** How a suite is run, and how its results are learned. */
export interface SuiteCommand {
  /** What it is called where it is told of. */
  readonly title: string;
  readonly program: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Without one, the exit code is all there is. */
  readonly source?: ReportSource;
  /** A file of the worktree's, or of the scratch directory, that belongs to this run of the suite alone. */
  readonly reportFile?: string;
  /** The exit codes of a run that came to its end; any, if that cannot be known. */
  readonly exitCodes?: readonly number[];
  /** What to do if it does not work. */
  readonly remedy: string;
}

/** Where a suite runs, and a directory for its report that nobody else knows. */
export interface CommandPlaces extends SuitePlaces {
  readonly reports: string;
  readonly path: string | undefined;
}

/** Whether the tests are those of the environment, and not of the worktree. */
const comesAlong = (args: readonly string[]): boolean => args.some((each) => each.includes("{environment}"));

const installed = (directory: string): string | undefined => {
  const program = join(directory, "node_modules/.bin/vitest");
  if (existsSync(program)) return program;
  return dirname(directory) === directory ? undefined : installed(dirname(directory));
};

/**
 * As `npx --no-install` finds it, but without asking anybody on the network when it is not there. Tests that come with the
 * environment are run by the vitest that comes with it, too, if one does.
 */
const findVitest = (args: readonly string[], { cwd, environment }: SuitePlaces): string | undefined => {
  const [first, second] = comesAlong(args) ? [environment, cwd] : [cwd, environment];
  return installed(first) ?? installed(second);
};

type Runner = RunnerSuite["runner"];

const runners: Record<Runner, (args: readonly string[], places: CommandPlaces) => SuiteCommand | string> = {
  vitest: (args, places) => {
    const program = findVitest(args, places);
    if (program === undefined) {
      return `vitest is not installed: there is no node_modules/.bin/vitest in ${places.cwd}, nor in a directory around it. Install it in the project, or in the folder of the environment, and name that as {environment} in args.`;
    }
    const report = join(places.reports, "report.xml");
    const parse = (text: string) => parseJunit(text, { nameSeparator: " > ", shownFile: shownFile(places) });
    return {
      title: "vitest",
      program,
      // The default reporter tells what the other one leaves out, such as errors outside of tests.
      args: ["run", "--reporter=default", "--reporter=junit", `--outputFile.junit=${report}`],
      source: fileSource(report, [places.reports], parse),
      exitCodes: [0, 1],
      remedy: "Are there tests that its configuration includes?",
    };
  },
  node: (_, places) => {
    const report = join(places.reports, "report.tap");
    return {
      title: "node --test",
      program: existsSync(findProgram("node", places.path)) ? "node" : process.execPath,
      args: ["--test", "--test-reporter=tap", `--test-reporter-destination=${report}`],
      source: fileSource(report, [places.reports], (text) =>
        parseTap(text, { shownFile: shownFile(places) }),
      ),
      exitCodes: [0, 1],
      remedy: "Are there test files where Node.js looks for them? Name them in `args`.",
    };
  },
  pytest: (args, places) => {
    const report = join(places.reports, "report.xml");
    // The names of tests begin there: they would depend on where the worktree is otherwise.
    const root = comesAlong(args) ? [`--rootdir=${places.environment}`] : [];
    return {
      title: "pytest",
      program: "python3",
      args: ["-m", "pytest", `--junitxml=${report}`, "-p", "no:cacheprovider", ...root],
      env: { PYTHONDONTWRITEBYTECODE: "1" },
      source: fileSource(report, [places.reports], (text) => parseJunit(text)),
      exitCodes: [0, 1],
      remedy:
        "Is pytest installed where the tests run? If not, install it in setup.sh of the environment: python3 -m pip install pytest",
    };
  },
  go: () => ({
    title: "go test",
    program: "go",
    args: ["test", "-json", "-count=1"],
    source: goSource(),
    exitCodes: [0, 1, 2],
    remedy: "Is Go installed where the tests run, and is there a go.mod where the suite runs?",
  }),
};

const runnerCommand = ({ runner, args = [] }: RunnerSuite, places: CommandPlaces): SuiteCommand | string => {
  const command = runners[runner](args, places);
  if (typeof command === "string") return command;
  const more = runner === "go" && args.length === 0 ? ["./..."] : args;
  return { ...command, args: [...command.args, ...more.map((each) => fillPlaces(each, places))] };
};

const shellCommand = ({ command, format, report }: CommandSuite, places: CommandPlaces): SuiteCommand => {
  const parse = format === "junit" ? parseJunit : parseTap;
  const roots = [places.worktree, places.scratch];
  const isInScratch = report?.startsWith(SCRATCH_PREFIX) === true;
  const file =
    report === undefined ? undefined : resolve(places.cwd, isInScratch ? fillPlaces(report, places) : report);
  const source =
    file === undefined ? outputSource((text) => parse(text)) : fileSource(file, roots, (text) => parse(text));
  return {
    title: "The command",
    program: "sh",
    args: ["-c", command],
    ...(format !== "exit-code" && { source }),
    ...(file !== undefined && { reportFile: file }),
    remedy:
      file === undefined
        ? "Does it print its report, and nothing else that looks like one, to the standard output?"
        : `Does it write its report to ${report}?`,
  };
};

/** How to run a suite; a sentence, if that cannot work. */
export const commandOf = (definition: SuiteDefinition, places: CommandPlaces): SuiteCommand | string =>
  "runner" in definition ? runnerCommand(definition, places) : shellCommand(definition, places);

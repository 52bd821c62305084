import { existsSync } from "node:fs";
import { join } from "node:path";
import { mayLeaveOut, type Omissions } from "../known/leftOut.ts";
import { scanTests } from "../known/scanTests.ts";
import { knownTests, testFilesOf } from "../known/testFiles.ts";
import { shownFile } from "../places.ts";
import { channelSource } from "../sources.ts";
import type { CommandPlaces, SuiteCommand } from "../suiteCommand.ts";
import { findVitest, findVitestOfWork, nodeProgram } from "./findRunners.ts";
import vitestReporter from "./programs/vitestReporter.ts?text";
import { RunnerReport } from "./runnerReport.ts";
import { vitestConfig } from "./vitestConfig.ts";

const isSource = (name: string): boolean => /\.[cm]?[jt]sx?$/.test(name);
/** As vitest looks for tests; versions before 4 ignore those two directories. */
const isTest = (name: string): boolean =>
  isSource(name) && /\.(?:test|spec)\.\w+$/.test(name) && !/(?:^|\/)(?:dist|cypress)\//.test(name);

const REPORTER = "reporter.mjs";
const CONFIG = "vitest.config.mjs";
const CONFIG_FILES = ["vitest", "vite"].flatMap((name) =>
  ["ts", "mts", "cts", "js", "mjs", "cjs"].map((ending) => `${name}.config.${ending}`),
);

const OMISSIONS: Omissions = {
  harmlessOption: "--dir",
  isSource,
  words: /skip|todo|\bonly\b|runIf/i,
};

export interface VitestSuite {
  readonly args: readonly string[];
  /** The tests belong to the environment: the work must not influence how they run. */
  readonly isOfEnvironment: boolean;
  readonly runnerFrom: "worktree" | undefined;
}

const NOT_INSTALLED =
  "vitest was not found in the environment's folder or its parents, in the scratch directory, or on the PATH. The vitest of the work is not used, because the work could forge results with it. Install vitest in the environment's folder, in `setup.sh` into $SANDDUNE_SCRATCH, or in the image; for tests that belong to the work, `runnerFrom: \"worktree\"` uses the vitest of the work.";
const NOT_IN_WORK =
  "vitest is not installed in the work: neither the directory of the suite nor its parents have node_modules/vitest. Install it there, or leave out `runnerFrom`.";

export const vitest = (
  { args, isOfEnvironment, runnerFrom }: VitestSuite,
  places: CommandPlaces,
): SuiteCommand | string => {
  const isOfWork = runnerFrom === "worktree";
  const program = isOfWork ? findVitestOfWork(places.cwd) : findVitest(places.path, places);
  if (program === undefined) return isOfWork ? NOT_IN_WORK : NOT_INSTALLED;
  const shown = shownFile(places);
  const before = knownTests(isOfEnvironment ? testFilesOf(args, places.environment, isTest) : [], scanTests);
  const hasConfig = args.some((each) => /^(?:-c|--config)(?:=|$)/.test(each));
  const ownConfig = CONFIG_FILES.map((name) => join(places.environment, name)).find((file) =>
    existsSync(file),
  );
  const report = new RunnerReport({
    before,
    mustAllRun:
      isOfEnvironment && ownConfig === undefined && !mayLeaveOut(args, places.environment, OMISSIONS),
    fileNames: (file) => ({ before: [shown(file)], own: [shown(file)] }),
  });
  const config = vitestConfig({
    own: ownConfig,
    root: places.environment,
    cache: join(places.reports, "cache"),
  });
  return {
    title: "vitest",
    program: nodeProgram(places.path, places),
    args: [
      program,
      "run",
      // The default reporter shows errors outside of tests, too.
      "--reporter=default",
      `--reporter=${join(places.reports, REPORTER)}`,
      ...(isOfEnvironment && !hasConfig ? [`--config=${join(places.reports, CONFIG)}`] : []),
      ...args,
    ],
    files: { [REPORTER]: vitestReporter, ...(isOfEnvironment && { [CONFIG]: config }) },
    source: channelSource(report),
    exitCodes: [0, 1],
    remedy: "Check that its configuration includes tests.",
  };
};

import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { scanTests } from "../known/scanTests.ts";
import { knownTests, testFilesOf } from "../known/testFiles.ts";
import { shownFile } from "../places.ts";
import { channelSource } from "../sources.ts";
import type { CommandPlaces, SuiteCommand } from "../suiteCommand.ts";
import { nodeProgram } from "./findRunners.ts";
import nodeGuard from "./programs/nodeGuard.ts?text";
import nodeReporter from "./programs/nodeReporter.ts?text";
import { RunnerReport } from "./runnerReport.ts";

const isTest = (path: string): boolean => /\.[cm]?[jt]s$/.test(path) && !/\.d\.[cm]?ts$/.test(path);
/** As Node.js looks for tests in a directory: by their names, and everything in a directory called `test`. */
const isNamedTest = (path: string): boolean =>
  isTest(path) && /(?:^|\/)test\/|(?:^|\/)test[.-][^/]*$|[._-]test\.[^./]+$/.test(path);

const REPORTER = "reporter.mjs";

/** Both programs have the token as a constant of their own. */
const withToken = (program: string, token: string): string =>
  `const SANDDUNE_END_TOKEN=${JSON.stringify(token)};${program}`;

/**
 * `node --test`, with a process for each file. The runner does not load the work: it reports the files and their results over a
 * channel of its own. It cannot know whether the code that a file has loaded ended the process: a guard reports that, which is
 * loaded first.
 */
export const nodeTest = (args: readonly string[], places: CommandPlaces): SuiteCommand => {
  const shown = shownFile(places);
  // Versions of Node.js treat a directory differently.
  const expanded = args.flatMap((each) => {
    const files = testFilesOf([each], places.environment, isNamedTest);
    return files.length > 0 ? files : [each];
  });
  const before = knownTests(testFilesOf(expanded, places.environment, isTest), scanTests);
  const report = new RunnerReport({ before, fileNames: (file) => ({ before: [], own: [shown(file)] }) });
  const token = randomBytes(16).toString("hex");
  return {
    title: "node --test",
    program: nodeProgram(places.path, places),
    args: [
      // On the command line, because each file's process loads the guard again, and a program that an earlier one has started could
      // change a file.
      `--import=data:text/javascript,${encodeURIComponent(withToken(nodeGuard, token))}`,
      "--test",
      `--test-reporter=${join(places.reports, REPORTER)}`,
      "--test-reporter-destination=stdout",
      ...expanded,
    ],
    files: { [REPORTER]: withToken(nodeReporter, token) },
    source: channelSource(report),
    exitCodes: [0, 1],
    remedy: "Check that there are test files where Node.js looks for them, or name them in `args`.",
  };
};

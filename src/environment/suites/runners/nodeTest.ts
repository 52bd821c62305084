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
/** As Node.js looks for them in a directory: by their names, and everything in a directory with the name `test`. */
const isNamedTest = (path: string): boolean =>
  isTest(path) && /(?:^|\/)test\/|(?:^|\/)test[.-][^/]*$|[._-]test\.[^./]+$/.test(path);

const REPORTER = "reporter.mjs";

/** Both programs have the token as a constant of their own. */
const withToken = (program: string, token: string): string =>
  `const SANDDUNE_END_TOKEN=${JSON.stringify(token)};${program}`;

/**
 * `node --test`, with a process for each file. The runner does not load the work: it tells us over a channel of its own which
 * files there are, and what came of their tests. What it cannot know is whether a file's process came to its end or was ended by
 * what it had loaded: that is told by a guard, which is in the process first.
 */
export const nodeTest = (args: readonly string[], places: CommandPlaces): SuiteCommand => {
  const shown = shownFile(places);
  // Versions of Node.js differ in what they make of a directory.
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
      // On the command line: each file's process loads the guard anew, and a program that an earlier one has started could write
      // to a file.
      `--import=data:text/javascript,${encodeURIComponent(withToken(nodeGuard, token))}`,
      "--test",
      `--test-reporter=${join(places.reports, REPORTER)}`,
      "--test-reporter-destination=stdout",
      ...expanded,
    ],
    files: { [REPORTER]: withToken(nodeReporter, token) },
    source: channelSource(report),
    exitCodes: [0, 1],
    remedy: "Are there test files where Node.js looks for them? Name them in `args`.",
  };
};

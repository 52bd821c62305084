import { Command } from "commander";
import { showDuration } from "../../display/duration.ts";
import { allPassed, type TestResult } from "../../environment/contract.ts";
import { asksFor } from "../../environment/definition/testPath.ts";
import { verdictOf } from "../../environment/results/describeResults.ts";
import { collect } from "../run/runValues.ts";
import { addSandboxFlags } from "../run/sandboxFlags.ts";
import { EXIT_RUN_FAILED, EXIT_SUCCESS } from "../shared/exitCodes.ts";
import { withExamples } from "../shared/helpExamples.ts";
import { print, printJson } from "../shared/output.ts";
import { openEnv, WORKTREE_FLAG } from "./open.ts";
import { parametersOf } from "./parameters.ts";
import { performingEnv } from "./performing.ts";
import { isForSandbox, openSandboxTests, type SandboxTestFlags } from "./sandboxTests.ts";

interface RunFlags extends SandboxTestFlags {
  readonly param?: readonly string[];
  readonly json?: boolean;
}

const STOPPED = {
  subject: "The test run",
  kept: "Its processes have ended.",
  tidying: "stopping the running tests",
};

const linesOf = ({ path, passed, durationMs, message }: TestResult): string[] => [
  `${passed ? "✓" : "✗"} ${path}  ${showDuration(durationMs)}`,
  ...(message?.split("\n").map((line) => `    ${line}`) ?? []),
];

const perform = async (signal: AbortSignal, flags: RunFlags, directory: string, path = ""): Promise<void> => {
  const open = isForSandbox(flags) ? openSandboxTests : openEnv;
  await using environment = await open(directory, flags, signal);
  const { tests } = await environment.schema({ signal });
  const asked = tests.filter((test) => asksFor(path, test.path));
  const parameters = parametersOf(flags.param ?? [], asked);
  const shown = new Set<string>();
  const show = async (result: TestResult): Promise<void> => {
    if (flags.json || shown.has(result.path)) return;
    shown.add(result.path);
    await print(linesOf(result).join("\n"));
  };
  const results = await environment.run(path, {
    parameters,
    signal,
    onProgress: ({ last }) => void (last && show(last)),
  });
  // Other test servers may not report progress.
  for (const result of results.tests) await show(result);
  await (flags.json ? printJson(results) : print(`\n${verdictOf(results)}`));
  process.exitCode = allPassed(results) ? EXIT_SUCCESS : EXIT_RUN_FAILED;
};

const NOTES = `
Exit codes:
  0  all tests passed           1  a test failed or has no result
  2  the environment cannot be used, or there is no such test
  130, 143  stopped by Ctrl-C, by SIGTERM`;

/** `sanddune environment run`: runs the tests of an environment, without an agent. */
export const createEnvRunCommand = (): Command =>
  withExamples(
    addSandboxFlags(
      new Command("run")
        .description("Runs tests of an environment, on this machine or in a sandbox.")
        .argument("<dir>", "the environment: a folder with environment.ts or environment.json")
        .argument("[test]", "the path of a test, or of a group of tests (default: all)")
        .option("--param <name=value>", "a parameter of the tests (repeatable)", collect)
        .option(...WORKTREE_FLAG)
        .option("--json", "print the results as one JSON object")
        .optionsGroup("In a sandbox:")
        .option("--commit <ref>", "the commit to test (default: HEAD of the worktree)"),
    ).action(performingEnv(STOPPED, perform)),
    { title: "All tests, on the current directory", command: "sanddune environment run tests/env" },
    {
      title: "Some tests, on another checkout",
      command: `sanddune environment run tests/env api/login --worktree ../feature \\
        --param user=ada`,
    },
    {
      title: "Evaluate a branch in a sandbox, like a run",
      command: "sanddune environment run tests/env --sandbox docker --commit agent/parser",
    },
  ).addHelpText("after", NOTES);

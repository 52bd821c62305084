import { mkdir } from "node:fs/promises";
import { abortOnStopSignals, exitCodeOf } from "../../process/stopSignals.ts";
import type { TestProgress, TestResults } from "../contract.ts";
import { readEnvironment } from "../folder/readEnvironment.ts";
import { boundResults } from "../results/boundResults.ts";
import { TOKEN_VARIABLE } from "../run/envVars.ts";
import { openSetup, openTests } from "../run/openTests.ts";
import { proxiedTests } from "../run/proxiedTests.ts";
import type { ReadyTests } from "../run/readyTests.ts";
import { TestWorker } from "../run/workers/testWorker.ts";
import { startTestServer } from "../server/testServer.ts";
import { runWorker } from "../worker/main.ts";
import { firstLine } from "./firstLine.ts";
import { guardFiles } from "./guardedFiles.ts";
import { say, sayFailed, sayLine, saySentence, sealLinesWith } from "./say.ts";
import { abortAtEndOfInput, Stopped, untilAborted } from "./stop.ts";
import { takeWork } from "./takeWork.ts";
import {
  parametersOf,
  portOf,
  readArguments,
  required,
  type ToolArguments,
  ToolUsageError,
} from "./toolArguments.ts";

const EXIT_FAILED = 1;
const EXIT_BAD_USAGE = 2;

/** The longest time without a line. */
const SIGN_OF_LIFE_MS = 10_000;

const tokenOf = (): string | undefined => process.env[TOKEN_VARIABLE] || undefined;

/** The path of this program. */
const ownPath = (): string => process.argv[1] as string;

const placeOf = (args: ToolArguments) => ({
  directory: required(args, "directory"),
  worktree: required(args, "worktree"),
});

const withTests = async (
  args: ToolArguments & { readonly worker?: TestWorker | undefined },
  signal: AbortSignal,
  work: (tests: ReadyTests) => Promise<void>,
): Promise<void> => {
  const tests = await openTests({
    ...placeOf(args),
    scratch: args.scratch,
    runsSetup: args["no-setup"] !== true,
    tool: ownPath(),
    worker: args.worker,
    onProgress: saySentence,
    signal,
  });
  try {
    await work(tests);
  } finally {
    await tests.close();
  }
};

const serveUntilStopped = async (
  tests: ReadyTests,
  args: ToolArguments,
  signal: AbortSignal,
): Promise<void> => {
  const server = await startTestServer({ tests, port: portOf(args), token: tokenOf(), socket: args.socket });
  try {
    say({ type: "ready", url: server.url });
    await untilAborted(signal);
  } finally {
    await server.close();
  }
};

const serve = (args: ToolArguments, stop: AbortController): Promise<void> => {
  portOf(args);
  return withTests(args, stop.signal, (tests) => serveUntilStopped(tests, args, stop.signal));
};

/** Forwards every request over standard output to the process that started it, and reads the answers from standard input. */
const proxy = async (args: ToolArguments, stop: AbortController): Promise<void> => {
  abortAtEndOfInput(stop);
  const tests = await proxiedTests(process.stdin, sayLine);
  await serveUntilStopped(tests, args, stop.signal);
};

/** If files of the environment changed, the tests that ran may not be those that were meant. */
const withDoubt = (results: TestResults, changed: string | undefined): TestResults =>
  changed === undefined
    ? results
    : {
        ...results,
        error:
          `${changed} was changed while the tests ran: the results cannot be trusted.\n${results.error ?? ""}`.trim(),
      };

/** A worker that starts before the work arrives; none for an environment with its own server. */
const workerAhead = (args: ToolArguments): TestWorker | undefined => {
  const { directory, json } = readEnvironment(required(args, "directory"));
  if (json?.type === "server") return undefined;
  const scratch = required(args, "scratch");
  return new TestWorker({ ...placeOf(args), directory, scratch, tool: ownPath() });
};

const run = async (args: ToolArguments, { signal }: AbortController): Promise<void> => {
  const parameters = parametersOf(args);
  const findChanged = guardFiles(required(args, "directory"), process.argv.slice(1, 2));
  const worker = args.archive === undefined ? undefined : workerAhead(args);
  try {
    if (args.archive !== undefined) await takeWork(args.archive, required(args, "tree"), signal);
    setInterval(() => say({ type: "alive" }), SIGN_OF_LIFE_MS).unref();
    await withTests({ ...args, worker }, signal, async (tests) => {
      const onProgress = (progress: TestProgress) => say({ type: "progress", progress });
      const results = await tests.run(args.path ?? "", { parameters, onProgress, signal });
      say({ type: "result", result: boundResults(withDoubt(results, findChanged())) });
    });
  } finally {
    await worker?.end();
  }
};

/**
 * Runs the set-up script before the work arrives, with an empty directory in its place, and lists the tests on request. Stays while
 * the script's background processes are needed.
 */
const setup = async (args: ToolArguments, { signal }: AbortController): Promise<void> => {
  const scratch = required(args, "scratch");
  await mkdir(required(args, "worktree"), { recursive: true });
  const end = await openSetup({ ...placeOf(args), scratch, onProgress: saySentence, signal });
  try {
    if (args.schema === true) {
      const listed = { ...args, scratch, "no-setup": true };
      await withTests(listed, signal, async (tests) =>
        say({ type: "schema", schema: await tests.schema({ signal }) }),
      );
    }
    say({ type: "prepared" });
    if (end !== undefined) await untilAborted(signal);
  } finally {
    await end?.();
  }
};

const COMMANDS = { serve, proxy, run, setup };

/** Runs a command line, and resolves with the exit code. */
export const toolCommand = async (argv: readonly string[]): Promise<number> => {
  try {
    const { command, args } = readArguments(argv);
    if (command === "worker") return await runWorker();
    if (args.sealed === true) sealLinesWith(await firstLine(process.stdin));
    await COMMANDS[command](
      args,
      abortOnStopSignals((name) => new Stopped(exitCodeOf(name))),
    );
    return 0;
  } catch (reason) {
    if (reason instanceof Stopped) return reason.exitCode;
    sayFailed(reason);
    return reason instanceof ToolUsageError ? EXIT_BAD_USAGE : EXIT_FAILED;
  }
};

import { boundResults } from "../boundResults.ts";
import type { TestProgress } from "../contract.ts";
import { testsByCourier } from "../courierTests.ts";
import { openTests } from "../openTests.ts";
import type { ReadyTests } from "../readyTests.ts";
import { TOKEN_VARIABLE } from "../run/environmentOf.ts";
import { startTestServer } from "../testServer.ts";
import { runWorker } from "../worker/main.ts";
import { say, sayFailed, sayLine, saySentence } from "./say.ts";
import { abortAtEndOfInput, abortOnStopSignals, Stopped, untilAborted } from "./stop.ts";
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

const tokenOf = (): string | undefined => process.env[TOKEN_VARIABLE] || undefined;

const withTests = async (
  args: ToolArguments,
  signal: AbortSignal,
  work: (tests: ReadyTests) => Promise<void>,
): Promise<void> => {
  const tests = await openTests({
    directory: required(args, "directory"),
    worktree: required(args, "worktree"),
    scratch: args.scratch,
    runsSetup: args["no-setup"] !== true,
    // Itself: in a sandbox there is no other.
    tool: process.argv[1],
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
  if (args["until-stdin-ends"] === true) abortAtEndOfInput(stop);
  return withTests(args, stop.signal, (tests) => serveUntilStopped(tests, args, stop.signal));
};

/** Hands every request to whoever has started it, by standard output, and gets the answers by standard input. */
const courier = async (args: ToolArguments, stop: AbortController): Promise<void> => {
  abortAtEndOfInput(stop);
  const tests = await testsByCourier(process.stdin, sayLine);
  await serveUntilStopped(tests, args, stop.signal);
};

const run = (args: ToolArguments, { signal }: AbortController): Promise<void> => {
  const parameters = parametersOf(args);
  return withTests(args, signal, async (tests) => {
    const onProgress = (progress: TestProgress) => say({ type: "progress", progress });
    const results = await tests.run(args.path ?? "", { parameters, onProgress, signal });
    say({ type: "result", result: boundResults(results) });
  });
};

const schema = (args: ToolArguments, { signal }: AbortController): Promise<void> =>
  withTests(args, signal, async (tests) => say({ type: "schema", schema: await tests.schema({ signal }) }));

const COMMANDS = { serve, courier, run, schema };

/** Carries out a command line, and resolves with the exit code. */
export const toolCommand = async (argv: readonly string[]): Promise<number> => {
  try {
    const { command, args } = readArguments(argv);
    if (command === "worker") return await runWorker();
    if (command === "mcp") {
      const { socket, note } = args;
      const options = { url: required(args, "url"), token: tokenOf(), socket, note };
      // Only now: its protocol is large, and children that run tests have to start quickly.
      const { serveMcp } = await import("../mcp/serveMcp.ts");
      await serveMcp(options);
      return 0;
    }
    await COMMANDS[command](args, abortOnStopSignals());
    return 0;
  } catch (reason) {
    if (reason instanceof Stopped) return reason.exitCode;
    sayFailed(reason);
    return reason instanceof ToolUsageError ? EXIT_BAD_USAGE : EXIT_FAILED;
  }
};

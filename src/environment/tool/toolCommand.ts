import { once } from "node:events";
import { boundResults } from "../boundResults.ts";
import type { TestProgress, TestResults } from "../contract.ts";
import { testsByCourier } from "../courierTests.ts";
import { openSetup, openTests } from "../openTests.ts";
import type { ReadyTests } from "../readyTests.ts";
import { TOKEN_VARIABLE } from "../run/environmentOf.ts";
import { startTestServer } from "../testServer.ts";
import { runWorker } from "../worker/main.ts";
import { firstLine } from "./firstLine.ts";
import { guardFiles } from "./guardedFiles.ts";
import { say, sayFailed, sayLine, saySentence, sealLinesWith } from "./say.ts";
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

/** How often those who wait for results hear of it at least. */
const SIGN_OF_LIFE_MS = 10_000;

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
  return withTests(args, stop.signal, (tests) => serveUntilStopped(tests, args, stop.signal));
};

/** Hands every request to whoever has started it, by standard output, and gets the answers by standard input. */
const courier = async (args: ToolArguments, stop: AbortController): Promise<void> => {
  abortAtEndOfInput(stop);
  const tests = await testsByCourier(process.stdin, sayLine);
  await serveUntilStopped(tests, args, stop.signal);
};

/** Later tests may have been others than those that were to be run. */
const withDoubt = (results: TestResults, changed: string | undefined): TestResults =>
  changed === undefined
    ? results
    : {
        ...results,
        error:
          `${changed} was changed while the tests ran: the results cannot be believed.\n${results.error ?? ""}`.trim(),
      };

/**
 * Waits until the work is there. What gets it ready may run code of it already, which must find the key read, and the tests
 * watched. Only the end of input counts: others can write to it, and read what is written to it, but not end it.
 */
const awaitWork = async (signal: AbortSignal): Promise<void> => {
  const ended = once(process.stdin, "end");
  process.stdin.resume();
  say({ type: "waiting" });
  await Promise.race([ended, untilAborted(signal)]);
};

const run = async (args: ToolArguments, { signal }: AbortController): Promise<void> => {
  const parameters = parametersOf(args);
  const findChanged = guardFiles(required(args, "directory"), process.argv.slice(1, 2));
  if (args["await-work"] === true) await awaitWork(signal);
  setInterval(() => say({ type: "alive" }), SIGN_OF_LIFE_MS).unref();
  return withTests(args, signal, async (tests) => {
    const onProgress = (progress: TestProgress) => say({ type: "progress", progress });
    const results = await tests.run(args.path ?? "", { parameters, onProgress, signal });
    say({ type: "result", result: boundResults(withDoubt(results, findChanged())) });
  });
};

const schema = (args: ToolArguments, { signal }: AbortController): Promise<void> =>
  withTests(args, signal, async (tests) => say({ type: "schema", schema: await tests.schema({ signal }) }));

/** Runs the set-up script, and stays for as long as what that has left in the background is to go on. */
const setup = async (args: ToolArguments, { signal }: AbortController): Promise<void> => {
  const end = await openSetup({
    directory: required(args, "directory"),
    worktree: required(args, "worktree"),
    scratch: required(args, "scratch"),
    onProgress: saySentence,
    signal,
  });
  say({ type: "prepared" });
  if (end === undefined) return;
  try {
    await untilAborted(signal);
  } finally {
    await end();
  }
};

const COMMANDS = { serve, courier, run, schema, setup };

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
    if (args.sealed === true) sealLinesWith(await firstLine(process.stdin));
    await COMMANDS[command](args, abortOnStopSignals());
    return 0;
  } catch (reason) {
    if (reason instanceof Stopped) return reason.exitCode;
    sayFailed(reason);
    return reason instanceof ToolUsageError ? EXIT_BAD_USAGE : EXIT_FAILED;
  }
};

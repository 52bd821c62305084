import type { ParameterValues, TestProgress, TestResults } from "../../../environment/contract.ts";
import { MAX_MESSAGE_LENGTH } from "../../../environment/limits.ts";
import { readResults } from "../../../environment/results/readResults.ts";
import { EnvironmentStartError } from "../../../errors.ts";
import { shorten } from "../../../tools/shorten.ts";
import { inPackage } from "./testPackage.ts";
import { type CommandRunner, runTool } from "./toolProgram.ts";

/** The tests to run. */
export interface TestRequest {
  /** Default: all tests. */
  readonly path?: string;
  readonly parameters?: ParameterValues;
  readonly onProgress?: (progress: TestProgress) => void;
}

/** An environment in a sandbox, and the work to test. */
export interface TestPlace {
  readonly sandbox: CommandRunner;
  /** The path of the environment's package in the sandbox. */
  readonly packagePath: string;
  /** The path of the tested work in the sandbox. */
  readonly worktree: string;
  /** The directory in the sandbox for files of the set-up. */
  readonly scratch: string;
  readonly env: Readonly<Record<string, string>>;
}

/** The tested work could stop the program. It is never silent for this long by itself. */
const MAX_SILENCE_MS = 3 * 60_000;

/** The results if the tests could not be run. */
export const withoutResults = (path: string, error: string): TestResults => ({
  path,
  passed: 0,
  failed: 0,
  total: 0,
  tests: [],
  error: shorten(error, MAX_MESSAGE_LENGTH),
});

export const placeArguments = ({ packagePath, worktree, scratch }: TestPlace): string[] => [
  ...["--directory", inPackage(packagePath).directory],
  ...["--worktree", worktree, "--scratch", scratch],
];

/** The work to test, and how it gets into the sandbox. */
export interface TestedWork {
  /** The path of its archive in the sandbox, and the directory to unpack it into. */
  readonly archive: string;
  readonly tree: string;
  readonly copyIn: (signal: AbortSignal) => Promise<void>;
  /** Prepares the unpacked work. May run its code. */
  readonly prepare?: ((signal: AbortSignal) => Promise<void>) | undefined;
}

const UNPACK = Buffer.from("unpack\n");

/** A promise, and the function that resolves it. */
const occurrence = () => {
  let happen = () => {};
  const happened = new Promise<void>((resolve) => {
    happen = resolve;
  });
  return { happen, happened };
};

/**
 * Runs tests in a separate process. It starts and gets its key before the work is copied into the sandbox, so that no
 * tested code can have run by then. Tests that could not be run are a result; a lost sandbox is an error.
 */
export const evaluate = async (
  place: TestPlace,
  { path = "", parameters, onProgress }: TestRequest,
  { archive, tree, copyIn, prepare }: TestedWork,
  signal: AbortSignal,
): Promise<TestResults> => {
  let results: TestResults | undefined;
  let bringing = Promise.resolve();
  const stop = new AbortController();
  const either = AbortSignal.any([signal, stop.signal]);
  const [waiting, unpacked] = [occurrence(), occurrence()];
  const attempt = async (work: (own: AbortSignal) => Promise<void>): Promise<void> => {
    if (either.aborted) return;
    bringing = work(either).catch((reason: unknown) => stop.abort(reason));
    await bringing;
  };
  /** Sends a line when the archive has been copied, and ends when the work is ready. */
  async function* input(): AsyncGenerator<Uint8Array> {
    await waiting.happened;
    await attempt(copyIn);
    yield UNPACK;
    if (prepare === undefined) return;
    await unpacked.happened;
    await attempt(prepare);
  }
  try {
    await runTool(place.sandbox, {
      tool: inPackage(place.packagePath).tool,
      args: [
        ...["run", "--no-setup", ...placeArguments(place), "--archive", archive, "--tree", tree],
        ...(parameters ? ["--parameters", JSON.stringify(parameters)] : []),
        ...["--", path],
      ],
      env: place.env,
      stdin: input(),
      signal: either,
      maxSilenceMs: MAX_SILENCE_MS,
      onMessage: (message) => {
        if (message.type === "waiting") waiting.happen();
        else if (message.type === "unpacked") unpacked.happen();
        else if (message.type === "result") results ??= readResults(message.result);
        else if (message.type === "progress" && message.progress !== undefined)
          onProgress?.(message.progress);
      },
    });
  } catch (reason) {
    if (!(reason instanceof EnvironmentStartError)) throw reason;
    return withoutResults(path, reason.message);
  } finally {
    stop.abort();
    await bringing;
  }
  return results ?? withoutResults(path, "the tests reported no results");
};

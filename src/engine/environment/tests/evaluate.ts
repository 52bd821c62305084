import type { ParameterValues, TestProgress, TestResults } from "../../../environment/contract.ts";
import { MAX_MESSAGE_LENGTH } from "../../../environment/limits.ts";
import { readResults } from "../../../environment/results/readResults.ts";
import { EnvironmentStartError } from "../../../errors.ts";
import { shorten } from "../../../tools/shorten.ts";
import { inPackage } from "./testPackage.ts";
import { type CommandRunner, runTool } from "./toolProgram.ts";

/** Which tests are to be run. */
export interface TestRequest {
  /** All tests when it is left out. */
  readonly path?: string;
  readonly parameters?: ParameterValues;
  readonly onProgress?: (progress: TestProgress) => void;
}

/** An environment in a sandbox, and what it is to test. */
export interface TestPlace {
  readonly sandbox: CommandRunner;
  /** Where the environment's package is in the sandbox. */
  readonly packagePath: string;
  /** What is tested, in the sandbox. */
  readonly worktree: string;
  /** A directory in the sandbox for what the set-up makes. */
  readonly scratch: string;
  readonly env: Readonly<Record<string, string>>;
}

/** Far longer than it is ever silent by itself. What is tested could stop the program, and with it the run. */
const MAX_SILENCE_MS = 3 * 60_000;

/** What is told if there is nothing to be told. */
export const withoutResults = (path: string, error: string): TestResults => ({
  path,
  passed: 0,
  failed: 0,
  total: 0,
  tests: [],
  error: shorten(error, MAX_MESSAGE_LENGTH),
});

/** How the program for environments is told where everything is. */
export const placeArguments = ({ packagePath, worktree, scratch }: TestPlace): string[] => [
  ...["--directory", inPackage(packagePath).directory],
  ...["--worktree", worktree, "--scratch", scratch],
];

/** The work that is tested, and how it gets into the sandbox. */
export interface TestedWork {
  /** Where its archive is in the sandbox once `bring` has resolved, and where that is unpacked. */
  readonly archive: string;
  readonly tree: string;
  readonly bring: (signal: AbortSignal) => Promise<void>;
  /** Makes it ready, once it is unpacked. May run code of it. */
  readonly makeReady?: ((signal: AbortSignal) => Promise<void>) | undefined;
}

const UNPACK = Buffer.from("unpack\n");

/** Something that happens once. */
const occurrence = () => {
  let happen = () => {};
  const happened = new Promise<void>((resolve) => {
    happen = resolve;
  });
  return { happen, happened };
};

/**
 * Runs tests by a process of its own. It is started first, and has its key before the work is brought into the
 * sandbox: nothing of the work can have run by then. That the tests could not be run is a result, too; that the sandbox is
 * gone is not.
 */
export const evaluate = async (
  place: TestPlace,
  { path = "", parameters, onProgress }: TestRequest,
  { archive, tree, bring, makeReady }: TestedWork,
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
  /** Says when the archive is there, and ends when the work is ready. */
  async function* input(): AsyncGenerator<Uint8Array> {
    await waiting.happened;
    await attempt(bring);
    yield UNPACK;
    if (makeReady === undefined) return;
    await unpacked.happened;
    await attempt(makeReady);
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
  return results ?? withoutResults(path, "the tests have told no results");
};

import { posix } from "node:path";
import type { EnvironmentSchema } from "../../environment/contract.ts";
import { readSchema } from "../../environment/readSchema.ts";
import { EnvironmentStartError, ProcessTimeoutError, SandduneError } from "../../errors.ts";
import { onAbort } from "../../process/abort/onAbort.ts";
import { shellQuote } from "../../process/shellQuote.ts";
import { withTimeLimit } from "../../process/timeLimit.ts";
import { placeArguments, type TestPlace } from "./evaluate.ts";
import { inPackage } from "./package.ts";
import { notReadyWithin } from "./startServer.ts";
import type { TestSandbox } from "./testSandbox.ts";
import { runTool, textOf } from "./toolProgram.ts";

/** A sandbox for tests, with an environment in it. */
export interface TestsInSandbox {
  readonly sandbox: Pick<TestSandbox, "copyIn" | "packagePath" | "root"> & {
    readonly handle: TestPlace["sandbox"];
  };
  readonly env: Readonly<Record<string, string>>;
  /** Where the agent works, below the top level of the repository: `""`, or a path that ends with a slash. */
  readonly prefix: string;
  /** Brings what no commit has into the directory `tree` of the sandbox, before the files of a commit. */
  readonly bringItems?: (tree: string, signal: AbortSignal) => Promise<void>;
  /** Runs the hooks, once the files of a commit are in `tree`. */
  readonly runHooks?: (tree: string, signal: AbortSignal) => Promise<void>;
}

export const placeOf = ({ sandbox, env, prefix }: TestsInSandbox, tree: string): TestPlace => ({
  ...{ sandbox: sandbox.handle, packagePath: sandbox.packagePath, env },
  worktree: posix.join(tree, prefix),
  scratch: posix.join(sandbox.root, "scratch"),
});

/** How a set-up is watched. */
export interface SetupWatch {
  readonly onProgress: (sentence: string) => void;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** What was last said tells most about a set-up that takes too long. */
const LAST_WORDS = 20;

/** Makes the directory that stands for the work as long as there is none. */
const makeEmptyWork = async (tests: TestsInSandbox, signal: AbortSignal): Promise<TestPlace> => {
  const place = placeOf(tests, posix.join(tests.sandbox.root, "empty"));
  const { exitCode, stderr } = await tests.sandbox.handle.exec(
    `mkdir -p -- ${shellQuote(place.worktree)} && tar --version >/dev/null`,
    { cwd: "/", signal },
  );
  if (exitCode === 0) return place;
  throw new EnvironmentStartError("files cannot be brought into its sandbox by tar", stderr);
};

const runSetup = async (
  place: TestPlace,
  { onProgress, timeoutMs, signal }: SetupWatch,
): Promise<() => Promise<void>> => {
  const stop = new AbortController();
  const said: string[] = [];
  let over: Promise<void> = Promise.resolve();
  const prepared = new Promise<void>((resolve, reject) => {
    over = runTool(place.sandbox, {
      tool: inPackage(place.packagePath).tool,
      args: ["setup", ...placeArguments(place)],
      ...{ env: place.env, signal: stop.signal },
      onMessage: (message) => {
        if (message.type === "prepared") resolve();
        if (message.type !== "progress") return;
        said.push(textOf(message.message));
        onProgress(textOf(message.message));
      },
    }).then(resolve, reject);
  });
  const end = () => {
    stop.abort();
    return over;
  };
  try {
    await withTimeLimit(timeoutMs, signal, (either) => {
      onAbort(either, (reason) => stop.abort(reason));
      return prepared;
    });
    return end;
  } catch (reason) {
    await end();
    signal.throwIfAborted();
    if (reason instanceof SandduneError) throw reason;
    throw new EnvironmentStartError(notReadyWithin(timeoutMs), said.slice(-LAST_WORDS).join("\n"));
  }
};

/** Runs the set-up script, before there is any work. What it leaves in the background continues until the result is called. */
export const setUp = async (tests: TestsInSandbox, watch: SetupWatch): Promise<() => Promise<void>> =>
  runSetup(await makeEmptyWork(tests, watch.signal), watch);

const askSchema = async (
  place: TestPlace,
  { onProgress, timeoutMs, signal }: SetupWatch,
): Promise<EnvironmentSchema> => {
  let schema: EnvironmentSchema | undefined;
  try {
    await runTool(place.sandbox, {
      tool: inPackage(place.packagePath).tool,
      args: ["schema", "--no-setup", ...placeArguments(place)],
      ...{ env: place.env, signal, timeoutMs },
      onMessage: (message) => {
        if (message.type === "schema") schema = readSchema(message.schema);
        else if (message.type === "progress") onProgress(textOf(message.message));
      },
    });
  } catch (reason) {
    if (!(reason instanceof ProcessTimeoutError)) throw reason;
    throw new EnvironmentStartError(notReadyWithin(timeoutMs), "", { cause: reason });
  }
  if (schema === undefined) throw new EnvironmentStartError("it does not tell which tests it has", "");
  return schema;
};

/**
 * Runs the set-up of the environment, and asks what it tests: what is wrong with it is found before an agent begins. `end` ends what
 * the set-up has left in the background.
 */
export const prepareTests = async (
  tests: TestsInSandbox,
  watch: SetupWatch,
): Promise<{ readonly schema: EnvironmentSchema; readonly end: () => Promise<void> }> => {
  const place = await makeEmptyWork(tests, watch.signal);
  const end = await runSetup(place, watch);
  try {
    return { schema: await askSchema(place, watch), end };
  } catch (reason) {
    await end();
    throw reason;
  }
};

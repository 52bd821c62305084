import { posix } from "node:path";
import type { EnvironmentSchema } from "../../../environment/contract.ts";
import { readSchema } from "../../../environment/definition/readSchema.ts";
import { EnvironmentStartError, SandduneError } from "../../../errors.ts";
import { onAbort } from "../../../tools/wait/onAbort.ts";
import { withTimeLimit } from "../../../tools/wait/timeLimit.ts";
import { placeArguments, type TestPlace } from "./evaluate.ts";
import { notReadyWithin } from "./startServer.ts";
import { inPackage } from "./testPackage.ts";
import type { TestSandbox } from "./testSandbox.ts";
import { runTool, textOf } from "./toolProgram.ts";

export interface TestsInSandbox {
  readonly sandbox: Pick<TestSandbox, "copyIn" | "packagePath" | "root"> & {
    readonly handle: TestPlace["sandbox"];
  };
  readonly env: Readonly<Record<string, string>>;
  /** The directory in the repository where the agent works: `""`, or a path that ends with a slash. */
  readonly prefix: string;
  /** Copies the files of `copyToWorktree` into the directory `tree` of the sandbox, before the files of a commit. */
  readonly copyUserFiles?: (tree: string, signal: AbortSignal) => Promise<void>;
  /** Runs the hooks when the files of a commit are in `tree`. */
  readonly runHooks?: (tree: string, signal: AbortSignal) => Promise<void>;
}

export const placeOf = ({ sandbox, env, prefix }: TestsInSandbox, tree: string): TestPlace => ({
  ...{ sandbox: sandbox.handle, packagePath: sandbox.packagePath, env },
  worktree: posix.join(tree, prefix),
  scratch: posix.join(sandbox.root, "scratch"),
});

/** The limits of a set-up, and where its progress goes. */
export interface SetupWatch {
  readonly onProgress: (sentence: string) => void;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** The number of lines that explain a set-up which takes too long. */
const LAST_WORDS = 20;

/** The result of a set-up. */
interface SetupDone {
  /** Ends the background processes of the set-up script. */
  readonly end: () => Promise<void>;
  readonly schema: EnvironmentSchema | undefined;
}

const runSetup = async (
  tests: TestsInSandbox,
  flags: readonly string[],
  { onProgress, timeoutMs, signal }: SetupWatch,
): Promise<SetupDone> => {
  const place = placeOf(tests, posix.join(tests.sandbox.root, "empty"));
  const stop = new AbortController();
  const said: string[] = [];
  let schema: EnvironmentSchema | undefined;
  let over: Promise<void> = Promise.resolve();
  const prepared = new Promise<void>((resolve, reject) => {
    over = runTool(place.sandbox, {
      tool: inPackage(place.packagePath).tool,
      args: ["setup", ...flags, ...placeArguments(place)],
      ...{ env: place.env, signal: stop.signal },
      onMessage: (message) => {
        if (message.type === "prepared") resolve();
        if (message.type === "schema") schema = readSchema(message.schema);
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
    return { end, schema };
  } catch (reason) {
    await end();
    signal.throwIfAborted();
    if (reason instanceof SandduneError) throw reason;
    throw new EnvironmentStartError(notReadyWithin(timeoutMs), said.slice(-LAST_WORDS).join("\n"));
  }
};

/** Runs the set-up script. Its background processes run until the returned function is called. */
export const setUp = async (tests: TestsInSandbox, watch: SetupWatch): Promise<() => Promise<void>> =>
  (await runSetup(tests, [], watch)).end;

/** Sets up and lists the tests before an agent starts, to find errors. `end` ends background processes. */
export const prepareTests = async (
  tests: TestsInSandbox,
  watch: SetupWatch,
): Promise<{ readonly schema: EnvironmentSchema; readonly end: () => Promise<void> }> => {
  const { schema, end } = await runSetup(tests, ["--schema"], watch);
  if (schema !== undefined) return { schema, end };
  await end();
  throw new EnvironmentStartError("it does not list its tests", "");
};

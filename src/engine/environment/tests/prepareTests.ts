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

/** A sandbox for tests, with an environment in it. */
export interface TestsInSandbox {
  readonly sandbox: Pick<TestSandbox, "copyIn" | "packagePath" | "root"> & {
    readonly handle: TestPlace["sandbox"];
  };
  readonly env: Readonly<Record<string, string>>;
  /** Where the agent works, below the top level of the repository: `""`, or a path that ends with a slash. */
  readonly prefix: string;
  /** Brings what no commit has into the directory `tree` of the sandbox, before the files of a commit. */
  readonly copyUserFiles?: (tree: string, signal: AbortSignal) => Promise<void>;
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

/** What a set-up has left: what runs in the background, and which tests there are, if that was asked for. */
interface SetupDone {
  /** Ends what the set-up script has left in the background. */
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

/** Runs the set-up script, before there is any work. What it leaves in the background continues until the result is called. */
export const setUp = async (tests: TestsInSandbox, watch: SetupWatch): Promise<() => Promise<void>> =>
  (await runSetup(tests, [], watch)).end;

/**
 * Runs the set-up of the environment, and asks what it tests: what is wrong with it is found before an agent begins. `end` ends what
 * the set-up has left in the background.
 */
export const prepareTests = async (
  tests: TestsInSandbox,
  watch: SetupWatch,
): Promise<{ readonly schema: EnvironmentSchema; readonly end: () => Promise<void> }> => {
  const { schema, end } = await runSetup(tests, ["--schema"], watch);
  if (schema !== undefined) return { schema, end };
  await end();
  throw new EnvironmentStartError("it does not tell which tests it has", "");
};

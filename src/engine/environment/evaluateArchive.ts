import { posix } from "node:path";
import type { EnvironmentSchema, TestResults } from "../../environment/contract.ts";
import { readSchema } from "../../environment/readSchema.ts";
import { EnvironmentStartError, ProcessTimeoutError, SandduneError } from "../../errors.ts";
import { shellQuote } from "../../process/shellQuote.ts";
import { withTimeLimit } from "../../process/timeLimit.ts";
import { evaluate, placeArguments, type TestPlace, type TestRequest, withoutResults } from "./evaluate.ts";
import { inPackage } from "./package.ts";
import { notReadyWithin } from "./startServer.ts";
import type { TestSandbox } from "./testSandbox.ts";
import { runTool, textOf } from "./toolProgram.ts";

/** A sandbox for tests whose environment is set up. */
export interface PreparedTests {
  readonly sandbox: Pick<TestSandbox, "copyIn" | "packagePath" | "root"> & {
    readonly handle: TestPlace["sandbox"];
  };
  readonly env: Readonly<Record<string, string>>;
  /** Where the agent works, below the top level of the repository: `""`, or a path that ends with a slash. */
  readonly prefix: string;
}

const placeOf = ({ sandbox, env, prefix }: PreparedTests, tree: string): TestPlace => ({
  ...{ sandbox: sandbox.handle, packagePath: sandbox.packagePath, env },
  worktree: posix.join(tree, prefix),
  scratch: posix.join(sandbox.root, "scratch"),
});

/** How a set-up is watched. */
interface SetupWatch {
  readonly onProgress: (sentence: string) => void;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** What was last said tells most about a set-up that takes too long. */
const LAST_WORDS = 20;

/** Runs the set-up script. What it leaves in the background goes on until the result is called. */
const setUp = async (
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
      either.addEventListener("abort", () => stop.abort(either.reason), { once: true });
      if (either.aborted) stop.abort(either.reason);
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

/**
 * Runs the set-up of the environment, and asks what it tests: what is wrong with it is found before an agent begins. `end` ends what
 * the set-up has left in the background.
 */
export const prepareTests = async (
  tests: PreparedTests,
  watch: SetupWatch,
): Promise<{ readonly schema: EnvironmentSchema; readonly end: () => Promise<void> }> => {
  const { signal } = watch;
  const place = placeOf(tests, posix.join(tests.sandbox.root, "empty"));
  const { exitCode, stderr } = await tests.sandbox.handle.exec(
    `mkdir -p -- ${shellQuote(place.worktree)} && tar --version >/dev/null`,
    { cwd: "/", signal },
  );
  if (exitCode !== 0)
    throw new EnvironmentStartError("files cannot be brought into its sandbox by tar", stderr);
  const end = await setUp(place, watch);
  try {
    return { schema: await askSchema(place, watch), end };
  } catch (reason) {
    await end();
    throw reason;
  }
};

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

let archives = 0;

/** Brings the files of an archive into a sandbox for tests, runs tests on them, and removes them. */
export const evaluateArchive = async (
  tests: PreparedTests,
  archivePath: string,
  request: TestRequest,
  signal: AbortSignal,
): Promise<TestResults> => {
  const { handle, copyIn, root } = tests.sandbox;
  const tree = posix.join(root, `tree-${++archives}`);
  const archive = `${tree}.tar`;
  const quoted = { tree: shellQuote(tree), archive: shellQuote(archive) };
  try {
    await copyIn(archivePath, archive);
    const { exitCode, stderr } = await handle.exec(
      `mkdir -p -- ${quoted.tree} && tar -xf ${quoted.archive} -C ${quoted.tree} && rm -f -- ${quoted.archive}`,
      { cwd: "/", signal },
    );
    if (exitCode !== 0)
      return withoutResults(request.path ?? "", `The commit could not be unpacked: ${stderr}`);
    return await evaluate(placeOf(tests, tree), request, signal);
  } finally {
    await handle
      .exec(`rm -rf -- ${quoted.tree} ${quoted.archive}`, { cwd: "/", timeoutMs: 60_000 })
      .catch(() => {});
  }
};

import { posix } from "node:path";
import type { EnvironmentSchema, TestResults } from "../../environment/contract.ts";
import { readSchema } from "../../environment/readSchema.ts";
import { EnvironmentStartError, ProcessTimeoutError } from "../../errors.ts";
import { shellQuote } from "../../process/shellQuote.ts";
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

/** Runs the set-up of the environment, and asks what it tests: what is wrong with it is found before an agent begins. */
export const prepareTests = async (
  tests: PreparedTests,
  {
    onProgress,
    timeoutMs,
    signal,
  }: {
    readonly onProgress: (sentence: string) => void;
    readonly timeoutMs: number;
    readonly signal: AbortSignal;
  },
): Promise<EnvironmentSchema> => {
  let schema: EnvironmentSchema | undefined;
  const place = placeOf(tests, posix.join(tests.sandbox.root, "empty"));
  const { exitCode, stderr } = await tests.sandbox.handle.exec(
    `mkdir -p -- ${shellQuote(place.worktree)} && tar --version >/dev/null`,
    { cwd: "/", signal },
  );
  if (exitCode !== 0)
    throw new EnvironmentStartError("files cannot be brought into its sandbox by tar", stderr);
  try {
    await runTool(place.sandbox, {
      tool: inPackage(place.packagePath).tool,
      args: ["schema", ...placeArguments(place)],
      ...{ env: place.env, signal, timeoutMs },
      onMessage: (message) => {
        if (message.type === "schema") schema = readSchema(message.schema);
        else if (message.type === "progress") onProgress(textOf(message.message));
      },
    });
  } catch (reason) {
    if (!(reason instanceof ProcessTimeoutError)) throw reason;
    throw new EnvironmentStartError(notReadyWithin(timeoutMs), reason.stdout);
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

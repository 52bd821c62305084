import { posix } from "node:path";
import type { TestResults } from "../../environment/contract.ts";
import { EnvironmentStartError } from "../../errors.ts";
import { shellQuote } from "../../process/shellQuote.ts";
import { evaluate, type TestRequest } from "./evaluate.ts";
import { placeOf, type TestsInSandbox } from "./prepareTests.ts";

let archives = 0;

/** Runs tests in a sandbox for tests, on the files of an archive, and removes those. */
export const evaluateArchive = async (
  tests: TestsInSandbox,
  archivePath: string,
  request: TestRequest,
  signal: AbortSignal,
): Promise<TestResults> => {
  const { handle, copyIn, root } = tests.sandbox;
  const tree = posix.join(root, `tree-${++archives}`);
  const archive = `${tree}.tar`;
  const quoted = { tree: shellQuote(tree), archive: shellQuote(archive) };
  const bringWork = async (own: AbortSignal): Promise<void> => {
    // First: where both have a file, the commit's is the one that lands.
    await tests.bringItems?.(tree, own);
    await copyIn(archivePath, archive);
    const { exitCode, stderr } = await handle.exec(
      `mkdir -p -- ${quoted.tree} && tar -xf ${quoted.archive} -C ${quoted.tree} && rm -f -- ${quoted.archive}`,
      { cwd: "/", signal: own },
    );
    if (exitCode !== 0) throw new EnvironmentStartError("the commit could not be unpacked", stderr);
    await tests.runHooks?.(tree, own);
  };
  try {
    return await evaluate(placeOf(tests, tree), request, bringWork, signal);
  } finally {
    await handle
      .exec(`rm -rf -- ${quoted.tree} ${quoted.archive}`, { cwd: "/", timeoutMs: 60_000 })
      .catch(() => {});
  }
};

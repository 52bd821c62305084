import { posix } from "node:path";
import type { TestResults } from "../../../environment/contract.ts";
import { shellQuote } from "../../../tools/shellQuote.ts";
import { evaluate, type TestedWork, type TestRequest } from "./evaluate.ts";
import { placeOf, type TestsInSandbox } from "./prepareTests.ts";

let archives = 0;

/** Resolves with the path of a commit's archive on the host, when it exists. */
export type ArchiveSource = (signal: AbortSignal) => Promise<string>;

const workOf = (tests: TestsInSandbox, archivePath: ArchiveSource): TestedWork => {
  const { copyIn, root } = tests.sandbox;
  const { copyUserFiles, runHooks } = tests;
  const tree = posix.join(root, `tree-${++archives}`);
  const archive = `${tree}.tar`;
  return {
    tree,
    archive,
    copyIn: async (signal) => {
      const path = await archivePath(signal);
      // First, so that a file of the commit replaces a copied one.
      await copyUserFiles?.(tree, signal);
      await copyIn(path, archive);
    },
    prepare: runHooks && ((signal) => runHooks(tree, signal)),
  };
};

/** Runs tests on an archive, in a sandbox that is used only once. */
export const evaluateOnce = (
  tests: TestsInSandbox,
  archivePath: ArchiveSource,
  signal: AbortSignal,
): Promise<TestResults> => {
  const work = workOf(tests, archivePath);
  return evaluate(placeOf(tests, work.tree), {}, work, signal);
};

/** Runs tests on an archive, in a sandbox that is used again, and removes the files. */
export const evaluateArchive = async (
  tests: TestsInSandbox,
  archivePath: string,
  request: TestRequest,
  signal: AbortSignal,
): Promise<TestResults> => {
  const work = workOf(tests, async () => archivePath);
  try {
    return await evaluate(placeOf(tests, work.tree), request, work, signal);
  } finally {
    await tests.sandbox.handle
      .exec(`rm -rf -- ${shellQuote(work.tree)} ${shellQuote(work.archive)}`, {
        cwd: "/",
        timeoutMs: 60_000,
      })
      .catch(() => {});
  }
};

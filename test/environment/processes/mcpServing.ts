import { onTestFinished } from "vitest";
import { openTests } from "../../../src/environment/run/openTests.ts";
import { startTestServer } from "../../../src/environment/server/testServer.ts";
import { temporaryDirectory } from "../../helpers/repository/repository.ts";
import { toolFile } from "../builtTool.ts";

/** Serves an environment until the test is over. What it tests is an empty directory. */
export const serveEnvironment = async (
  directory: string,
): Promise<{ readonly url: string; readonly worktree: string }> => {
  const worktree = temporaryDirectory();
  const tests = await openTests({ directory, worktree, tool: toolFile() });
  onTestFinished(() => tests.close());
  const { url, close } = await startTestServer({ tests });
  onTestFinished(close);
  return { url, worktree };
};

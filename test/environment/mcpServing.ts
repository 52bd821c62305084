import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { onTestFinished } from "vitest";
import { builtCli } from "../helpers/built.ts";
import { temporaryDirectory } from "../helpers/repository.ts";

const cli = builtCli();

/** Starts `sanddune env serve`. */
export const startServing = async (
  directory: string,
  worktree: string,
): Promise<{ readonly url: string; readonly stop: () => Promise<void> }> => {
  const args = [cli, "env", "serve", directory, "--port", "0", "--worktree", worktree];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "ignore"] });
  const over = once(child, "close");
  const [url] = (await Promise.race([once(createInterface(child.stdout), "line"), over])) as [unknown];
  if (typeof url !== "string") throw new Error(`the test server has ended with ${url}`);
  return {
    url,
    stop: async () => {
      child.kill("SIGTERM");
      await over;
    },
  };
};

/** Serves an environment until the test is over. What it tests is an empty directory. */
export const serveEnvironment = async (
  directory: string,
): Promise<{ readonly url: string; readonly worktree: string }> => {
  const worktree = temporaryDirectory();
  const { url, stop } = await startServing(directory, worktree);
  onTestFinished(stop);
  return { url, worktree };
};

import { once } from "node:events";
import { Command, InvalidArgumentError } from "commander";
import { seconds, wholeNumber } from "../run/runValues.ts";
import { withExamples } from "../shared/helpExamples.ts";
import { print, tell } from "../shared/output.ts";
import { openEnv, WORKTREE_FLAG } from "./open.ts";
import { performingEnv } from "./performing.ts";
import { TOKEN_FLAG, takeToken } from "./token.ts";

interface ServeFlags {
  readonly port: number;
  readonly worktree?: string;
  readonly tokenEnv?: string;
  readonly timeout?: number;
  readonly concurrency?: number;
}

const DEFAULT_PORT = 8000;
const MAX_PORT = 65_535;

const portNumber = (text: string): number => {
  if (/^\d{1,5}$/.test(text) && Number(text) <= MAX_PORT) return Number(text);
  throw new InvalidArgumentError(`It must be a whole number from 0 to ${MAX_PORT}; 0 chooses a free port.`);
};

const STOPPED = {
  subject: "The test server",
  kept: "Its processes have ended.",
  tidying: "stopping the running tests",
};

const perform = async (signal: AbortSignal, flags: ServeFlags, directory: string): Promise<void> => {
  const token = takeToken(flags.tokenEnv);
  // Imported here, so that the help and completions do not wait for the server.
  const { startTestServer } = await import("../../environment/server/testServer.ts");
  await using tests = await openEnv(directory, flags, signal);
  const server = await startTestServer({ tests, port: flags.port, token });
  try {
    await print(server.url);
    await tell(`The tests of ${directory} are ready. Press Ctrl-C to stop the test server.`);
    // It may have been aborted before the listener was added.
    if (!signal.aborted) await once(signal, "abort");
    throw signal.reason;
  } finally {
    await server.close();
  }
};

/** `sanddune environment serve`: serves the tests of an environment over HTTP. */
export const createEnvServeCommand = (): Command =>
  withExamples(
    new Command("serve")
      .description("Starts the test server of an environment, on loopback, and prints its address.")
      .argument("<dir>", "the environment: a folder with environment.ts or environment.json")
      .option("--port <n>", "the port; 0 chooses a free one", portNumber, DEFAULT_PORT)
      .option(...WORKTREE_FLAG)
      .option(...TOKEN_FLAG)
      .option("--timeout <seconds>", "timeout of tests that do not set one", seconds)
      .option("--concurrency <n>", "maximum number of parallel tests", wholeNumber)
      .action(performingEnv(STOPPED, perform)),
    { title: "For an agent that uses sanddune mcp", command: "sanddune environment serve tests/env" },
    {
      title: "On a free port, protected by a token",
      command: "TOKEN=… sanddune environment serve tests/env --port 0 --token-env TOKEN",
    },
  );

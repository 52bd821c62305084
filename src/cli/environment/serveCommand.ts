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
  throw new InvalidArgumentError(`It must be a whole number from 0 to ${MAX_PORT}; 0 is any free port.`);
};

const STOPPED = {
  subject: "The test server",
  kept: "Nothing of it runs any more.",
  tidying: "ending the tests that run",
};

const perform = async (signal: AbortSignal, flags: ServeFlags, directory: string): Promise<void> => {
  const token = takeToken(flags.tokenEnv);
  // Only now: a command line that asks for help, or for a completion, does not wait for the server.
  const { startTestServer } = await import("../../environment/server/testServer.ts");
  await using tests = await openEnv(directory, flags, signal);
  const server = await startTestServer({ tests, port: flags.port, token });
  try {
    await print(server.url);
    await tell(`The tests of ${directory} are ready. Ctrl-C ends the test server.`);
    // It may have been aborted before anybody could listen for that.
    if (!signal.aborted) await once(signal, "abort");
    throw signal.reason;
  } finally {
    await server.close();
  }
};

/** `sanddune environment serve`: the tests of an environment over HTTP. */
export const createEnvServeCommand = (): Command =>
  withExamples(
    new Command("serve")
      .description("Starts the test server of an environment, on loopback, and prints its address.")
      .argument("<dir>", "the environment: a folder with environment.ts or environment.json")
      .option("--port <n>", "the port; 0 for any that is free", portNumber, DEFAULT_PORT)
      .option(...WORKTREE_FLAG)
      .option(...TOKEN_FLAG)
      .option("--timeout <seconds>", "time limit of a test that has none of its own", seconds)
      .option("--concurrency <n>", "how many tests at a time", wholeNumber)
      .action(performingEnv(STOPPED, perform)),
    { title: "For an agent that has sanddune mcp", command: "sanddune environment serve tests/env" },
    {
      title: "At any free port, for those who have the token",
      command: "TOKEN=… sanddune environment serve tests/env --port 0 --token-env TOKEN",
    },
  );

/**
 * Does what Cursor's CLI would do, with Cursor's SDK, where the CLI is not installed. The model is its argument, the prompt
 * its stdin, the MCP servers are in an env var. It prints each message of the SDK as a line of JSON.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { MCP_CONFIG, RESULT_LINE, UNAVAILABLE } from "../protocol.ts";
import { findSdk } from "./findSdk.ts";

interface RunOutcome {
  readonly status: string;
  readonly result?: unknown;
  readonly error?: unknown;
  readonly usage?: unknown;
}

/** The part of `@cursor/sdk` that is used here. */
interface Sdk {
  readonly Agent: {
    create(options: object): Promise<{
      send(prompt: string): Promise<{ stream(): AsyncIterable<object>; wait(): Promise<RunOutcome> }>;
    }>;
  };
}

/** 124 is the exit code of `timeout` for a program that it stopped. */
const EXIT_CODES: Readonly<Record<string, number>> = { finished: 0, cancelled: 124 };

const say = (message: object) =>
  new Promise((resolve) => process.stdout.write(`${JSON.stringify(message)}\n`, resolve));

const end = async (outcome: RunOutcome): Promise<never> => {
  await say({ type: RESULT_LINE, ...outcome });
  process.exit(EXIT_CODES[outcome.status] ?? 1);
};

const fail = (thrown: unknown): Promise<never> => {
  const error = thrown as Readonly<Record<string, unknown>> | null | undefined;
  return end({
    status: UNAVAILABLE,
    error: {
      name: error?.["name"],
      message: String(error?.["message"] ?? error),
      code: error?.["code"],
      status: error?.["status"],
      isRetryable: error?.["isRetryable"],
    },
  });
};

const readPrompt = async (): Promise<string> => {
  const parts: Buffer[] = [];
  for await (const part of process.stdin) parts.push(part);
  return Buffer.concat(parts).toString("utf8");
};

const loadSdk = async (directory: string): Promise<Sdk> => {
  const { module } = JSON.parse(readFileSync(join(directory, "package.json"), "utf8"));
  return import(pathToFileURL(join(directory, module)).href);
};

// The agent's own commands must not see the secrets in it.
const servers = process.env[MCP_CONFIG] ?? "{}";
delete process.env[MCP_CONFIG];
const prompt = await readPrompt();
const directory = findSdk();
if (directory === undefined) {
  process.stderr.write("cursor-agent: not found, and @cursor/sdk: not found\n");
  process.exit(127);
}
const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
if (major < 22 || (major === 22 && minor < 13)) {
  await fail(new Error(`@cursor/sdk needs Node.js 22.13, and this is Node.js ${process.versions.node}`));
}
const apiKey = process.env["CURSOR_API_KEY"];
if (!apiKey) await fail({ name: "AuthenticationError", message: "CURSOR_API_KEY is not set", status: 401 });
try {
  const { Agent } = await loadSdk(directory);
  const agent = await Agent.create({
    apiKey,
    // Node.js gives the program no name of its own when it is run with --eval.
    model: { id: process.argv[1] },
    ...JSON.parse(servers),
    local: { cwd: process.cwd(), settingSources: ["project"], sandboxOptions: { enabled: false } },
  });
  const run = await agent.send(prompt);
  for await (const message of run.stream()) await say(message);
  const { status, result, error, usage } = await run.wait();
  await end({ status, result, error, usage });
} catch (error) {
  await fail(error);
}

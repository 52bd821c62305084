import { CURSOR_MCP_CONFIG } from "./mcp.ts";

/** What the driver prints last: how the run has ended. */
export const RESULT_LINE = "sanddune.result";

/** The status of a run that the SDK has thrown an error for: it has not come to an end of its own. */
export const UNAVAILABLE = "unavailable";

/** What `timeout` says of what it has stopped. */
const EXIT_CANCELLED = 124;

/**
 * A program for Node.js that does what Cursor's CLI would do, with Cursor's SDK, where the CLI is not installed. It gets
 * the model as its argument, the prompt on stdin and servers of tools in an env var, and prints each message of the SDK's
 * as a line of JSON.
 */
export const CURSOR_DRIVER = String.raw`
import { existsSync, readFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { pathToFileURL } from "node:url";

const { execFileSync } = process.getBuiltinModule("node:child_process");

const say = (message) =>
  new Promise((resolve) => process.stdout.write(JSON.stringify(message) + "\n", resolve));

const end = async (outcome, exitCode) => {
  await say({ type: "${RESULT_LINE}", ...outcome });
  process.exit(exitCode);
};

const fail = (error) =>
  end(
    {
      status: "${UNAVAILABLE}",
      error: {
        name: error?.name,
        message: String(error?.message ?? error),
        code: error?.code,
        status: error?.status,
        isRetryable: error?.isRetryable,
      },
    },
    1,
  );

const globalModules = function* () {
  yield* (process.env.NODE_PATH ?? "").split(delimiter).filter(Boolean);
  yield join(dirname(process.execPath), "../lib/node_modules");
  try {
    yield execFileSync("npm", ["root", "--global"], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
  } catch {}
};

const findSdk = () => {
  const directories = process.env.CURSOR_SDK ? [process.env.CURSOR_SDK] : [];
  for (const modules of globalModules()) directories.push(join(modules, "@cursor/sdk"));
  return directories.find((directory) => existsSync(join(directory, "package.json")));
};

const readPrompt = async () => {
  const parts = [];
  for await (const part of process.stdin) parts.push(part);
  return Buffer.concat(parts).toString("utf8");
};

const { ${CURSOR_MCP_CONFIG}: servers = "{}" } = process.env;
delete process.env.${CURSOR_MCP_CONFIG};
const prompt = await readPrompt();
const directory = findSdk();
if (directory === undefined) {
  process.stderr.write("cursor-agent: not found, and @cursor/sdk: not found\n");
  process.exit(127);
}
const [major, minor] = process.versions.node.split(".").map(Number);
if (major < 22 || (major === 22 && minor < 13)) {
  await fail(new Error("@cursor/sdk needs Node.js 22.13, and this is Node.js " + process.versions.node));
}
if (!process.env.CURSOR_API_KEY) {
  await fail({ name: "AuthenticationError", message: "CURSOR_API_KEY is not set", status: 401 });
}
try {
  const { module } = JSON.parse(readFileSync(join(directory, "package.json"), "utf8"));
  const { Agent } = await import(pathToFileURL(join(directory, module)).href);
  const agent = await Agent.create({
    apiKey: process.env.CURSOR_API_KEY,
    model: { id: process.argv[1] },
    ...JSON.parse(servers),
    local: { cwd: process.cwd(), settingSources: ["project"], sandboxOptions: { enabled: false } },
  });
  const run = await agent.send(prompt);
  for await (const message of run.stream()) await say(message);
  const { status, result, error, usage } = await run.wait();
  const exitCodes = { finished: 0, cancelled: ${EXIT_CANCELLED} };
  await end({ status, result, error, usage }, exitCodes[status] ?? 1);
} catch (error) {
  await fail(error);
}
`;

import { Command } from "commander";
import { withExamples } from "../shared/helpExamples.ts";
import { performing } from "../shared/performing.ts";
import { UsageError } from "../shared/usageError.ts";
import { TOKEN_FLAG, takeToken } from "./token.ts";

interface McpFlags {
  readonly url: string;
  readonly tokenEnv?: string;
}

const DEFAULT_URL = "http://127.0.0.1:8000";

const checkUrl = (url: string): string => {
  if (URL.canParse(url) && new URL(url).protocol === "http:") return url;
  throw new UsageError(
    `--url: ${JSON.stringify(url)} is not the address of a test server, such as ${DEFAULT_URL}`,
  );
};

const perform = async ({ url, tokenEnv }: McpFlags): Promise<void> => {
  const options = { url: checkUrl(url), token: takeToken(tokenEnv) };
  // Imported here, because only this command needs it.
  const { serveMcp } = await import("../../environment/mcp/serveMcp.ts");
  await serveMcp(options);
};

/** `sanddune mcp`: the tests of a test server as MCP tools. */
export const createMcpCommand = (): Command =>
  withExamples(
    new Command("mcp")
      .description("Starts an MCP server on stdin and stdout, with the tests of a test server as tools.")
      .option("--url <url>", "the test server", DEFAULT_URL)
      .option(...TOKEN_FLAG)
      .action(performing(perform)),
    {
      title: "Add it to Claude Code, for the server of sanddune environment serve",
      command: "claude mcp add tests -- sanddune mcp",
    },
    {
      title: "For a test server on another port",
      command: "sanddune mcp --url http://127.0.0.1:8123",
    },
  );

import { readFile } from "node:fs/promises";
import type { McpServers } from "../../agents/contract.ts";
import type { Hooks } from "../../options/hooks.ts";
import type { TokenPrices } from "../../options/usage.ts";
import { type JsonObject, parseJson } from "../../tools/json/parseJson.ts";
import { isObject } from "../../tools/values/predicates.ts";
import { UsageError } from "../shared/usageError.ts";

/** Reads the file that a flag names. `run()` checks its content. */
const readObject = async (flag: string, path: string): Promise<JsonObject> => {
  const text = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(`${flag}: ${path} cannot be read (${error.code})`);
  });
  const value = parseJson(text);
  // Without the parser's message, which quotes the text: there may be secrets in it.
  if (value === undefined) throw new UsageError(`${flag}: ${path} is not valid JSON`);
  if (!isObject(value)) throw new UsageError(`${flag}: ${path} must contain one JSON object`);
  return value;
};

/** Such files also name the kind of server, which follows from `command` or `url`. */
const withoutKind = (server: unknown): unknown => {
  if (!isObject(server)) return server;
  const { type, ...rest } = server;
  const ownKind = "url" in server ? "http" : "stdio";
  return type === ownKind ? rest : server;
};

const readMcpServers = async (path: string): Promise<McpServers> => {
  const { mcpServers, ...others } = await readObject("--mcp-config", path);
  if (!isObject(mcpServers) || Object.keys(others).length > 0) {
    throw new UsageError(`--mcp-config: ${path} must contain { "mcpServers": { NAME: … } }`);
  }
  const servers = Object.entries(mcpServers).map(([name, server]) => [name, withoutKind(server)]);
  return Object.fromEntries(servers) as McpServers;
};

/** The options whose values do not fit into a flag, from the files that the flags name. */
export const readRunFiles = async (flags: {
  readonly hooks?: string;
  readonly prices?: string;
  readonly mcpConfig?: string;
}) => ({
  ...(flags.hooks !== undefined && { hooks: (await readObject("--hooks", flags.hooks)) as Hooks }),
  prices:
    flags.prices === undefined
      ? undefined
      : ((await readObject("--prices", flags.prices)) as unknown as TokenPrices),
  mcpServers: flags.mcpConfig === undefined ? undefined : await readMcpServers(flags.mcpConfig),
});

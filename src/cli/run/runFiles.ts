import { readFile } from "node:fs/promises";
import type { McpServers } from "../../agents/contract.ts";
import type { Hooks } from "../../options/hooks.ts";
import type { TokenPrices } from "../../options/usage.ts";
import { type JsonObject, parseJson } from "../../tools/values/json.ts";
import { isObject } from "../../tools/values/predicates.ts";
import { UsageError } from "../shared/usageError.ts";

/** Reads the file that a flag names; what is in it, `run()` checks. */
const readObject = async (flag: string, path: string): Promise<JsonObject> => {
  const text = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(`${flag}: ${path} cannot be read (${error.code})`);
  });
  const value = parseJson(text);
  // Without the parser's message, which quotes the text: there may be secrets in it.
  if (value === undefined) throw new UsageError(`${flag}: ${path} does not hold valid JSON`);
  if (!isObject(value)) throw new UsageError(`${flag}: ${path} must hold one JSON object`);
  return value;
};

/** Such files also say what kind of server it is, which `command` or `url` say already. */
const withoutKind = (server: unknown): unknown => {
  if (!isObject(server)) return server;
  const { type, ...rest } = server;
  const ownKind = "url" in server ? "http" : "stdio";
  return type === ownKind ? rest : server;
};

const readMcpServers = async (path: string): Promise<McpServers> => {
  const { mcpServers, ...others } = await readObject("--mcp-config", path);
  if (!isObject(mcpServers) || Object.keys(others).length > 0) {
    throw new UsageError(`--mcp-config: ${path} must hold { "mcpServers": { NAME: … } }`);
  }
  const servers = Object.entries(mcpServers).map(([name, server]) => [name, withoutKind(server)]);
  return Object.fromEntries(servers) as McpServers;
};

/** The options whose values have more structure than a flag could hold, from the files that the flags name. */
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

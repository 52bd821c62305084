import { type McpServers, mapServers } from "../shared/mcpServers.ts";
import { configArguments } from "./config.ts";

/** Codex passes env vars on under their own names only, and two servers may need different values of one variable. */
const withValues = (names: readonly (readonly [string, string])[]): string =>
  [
    ...names.map(([name, variable]) => `export ${name}="$${variable}"; unset ${variable}`),
    'exec "$0" "$@"',
  ].join("; ");

/** Codex limits a tool to a minute or two by default. The tests of a project may take longer. */
const TOOL_TIMEOUT_SECONDS = 3600;

/** The arguments for MCP servers. They hold no values, only the names of the env vars that do. */
export const codexMcp = (
  servers: McpServers,
): { readonly args: string[]; readonly env: Record<string, string> } => {
  const env: Record<string, string> = {};
  const byVariable = (values: Readonly<Record<string, string>> = {}) =>
    Object.entries(values).map(([name, value]) => {
      const variable = `SANDDUNE_MCP_${Object.keys(env).length}`;
      env[variable] = value;
      return [name, variable] as const;
    });
  const connections = mapServers<object>(servers, {
    http: ({ url, headers }) => ({ url, env_http_headers: Object.fromEntries(byVariable(headers)) }),
    stdio: ({ command, args = [], env: values }) => {
      const names = byVariable(values);
      return {
        command: "sh",
        args: ["-c", withValues(names), command, ...args],
        env_vars: names.map(([, variable]) => variable),
      };
    },
  });
  const args = Object.entries(connections).flatMap(([name, connection]) =>
    configArguments(`mcp_servers.${name}`, { ...connection, tool_timeout_sec: TOOL_TIMEOUT_SECONDS }),
  );
  return { args, env };
};

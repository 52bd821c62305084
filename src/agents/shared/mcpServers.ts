/** A server of tools for the agent, by the Model Context Protocol: a program in the sandbox, or an address. */
export type McpServer =
  | {
      readonly command: string;
      readonly args?: readonly string[];
      readonly env?: Readonly<Record<string, string>>;
    }
  | { readonly url: string; readonly headers?: Readonly<Record<string, string>> };

/** MCP servers by the names that the agent knows them by. */
export type McpServers = Readonly<Record<string, McpServer>>;

/** A server that is started in the sandbox. */
export type StdioMcpServer = Extract<McpServer, { command: string }>;
/** A server at an address. */
export type HttpMcpServer = Extract<McpServer, { url: string }>;

/** The servers as an agent's own configuration describes them. */
export const mapServers = <Config>(
  servers: McpServers,
  describe: { stdio(server: StdioMcpServer): Config; http(server: HttpMcpServer): Config },
): Record<string, Config> =>
  Object.fromEntries(
    Object.entries(servers).map(([name, server]) => [
      name,
      "url" in server ? describe.http(server) : describe.stdio(server),
    ]),
  );

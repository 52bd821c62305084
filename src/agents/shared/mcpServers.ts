/** A server of tools for the agent, by the Model Context Protocol: a program in the sandbox, or an address. */
export type McpServer =
  | {
      readonly command: string;
      readonly args?: readonly string[];
      readonly env?: Readonly<Record<string, string>>;
    }
  | { readonly url: string; readonly headers?: Readonly<Record<string, string>> };

/** Servers of tools by the name that the agent knows them by. */
export type McpServers = Readonly<Record<string, McpServer>>;

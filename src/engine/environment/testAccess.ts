import type { McpServers } from "../../agents/contract.ts";
import { TOKEN_VARIABLE as TOKEN_FOR_SERVER } from "../../environment/run/envVars.ts";
import type { AgentSettings } from "../../options/agentSettings.ts";
import { TEST_SERVER_NAME } from "../../options/checks/mcpServers.ts";
import type { TestAccess } from "./liveEnvironment.ts";
import { inPackage } from "./tests/testPackage.ts";

/** How the server and sanddune's own clients get the token. */
export { TOKEN_FOR_SERVER };

/** How other programs in the sandbox get the address and the token. */
const URL_VARIABLE = "SANDDUNE_TESTS_URL";
const SOCKET_VARIABLE = "SANDDUNE_TESTS_SOCKET";
const TOKEN_VARIABLE = "SANDDUNE_TESTS_TOKEN";

/** The caller's MCP servers and, if the agent supports them, that of the tests. */
export const mcpServersFor = (
  { agent, mcpServers }: Pick<AgentSettings, "agent" | "mcpServers">,
  access: TestAccess | undefined,
): McpServers | undefined =>
  access !== undefined && agent.acceptsMcpServers ? { ...mcpServers, ...access.mcpServers } : mcpServers;

export interface TestAddress {
  readonly packagePath: string;
  readonly url: string;
  /** For sandboxes whose commands share files but not a network. */
  readonly socket: string | undefined;
  readonly token: string;
  /** A note for the agent about how the tests run. */
  readonly note?: string;
}

export const accessTo = ({ packagePath, url, socket, token, note }: TestAddress): TestAccess => ({
  mcpServers: {
    [TEST_SERVER_NAME]: {
      command: "node",
      args: [
        ...["--no-warnings", inPackage(packagePath).mcpProgram, "--url", url],
        ...(socket === undefined ? [] : ["--socket", socket]),
        ...(note === undefined ? [] : ["--note", note]),
      ],
      env: { [TOKEN_FOR_SERVER]: token },
    },
  },
  env: {
    [URL_VARIABLE]: url,
    [TOKEN_VARIABLE]: token,
    ...(socket !== undefined && { [SOCKET_VARIABLE]: socket }),
  },
});

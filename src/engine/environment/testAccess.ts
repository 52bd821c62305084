import type { McpServers } from "../../agents/contract.ts";
import { TOKEN_VARIABLE as TOKEN_FOR_SERVER } from "../../environment/run/envVars.ts";
import type { AgentSettings } from "../../options/agentSettings.ts";
import { TEST_SERVER_NAME } from "../../options/checks/mcpServers.ts";
import type { TestAccess } from "./liveEnvironment.ts";
import { inPackage } from "./tests/testPackage.ts";

/** How a server, and its clients of ours, get the token. */
export { TOKEN_FOR_SERVER };

/** How everybody else does who works in the sandbox. */
const URL_VARIABLE = "SANDDUNE_TESTS_URL";
const SOCKET_VARIABLE = "SANDDUNE_TESTS_SOCKET";
const TOKEN_VARIABLE = "SANDDUNE_TESTS_TOKEN";

/** The servers that an agent is given: the caller's, and that of the tests, if it can be given any. */
export const mcpServersFor = (
  { agent, mcpServers }: Pick<AgentSettings, "agent" | "mcpServers">,
  access: TestAccess | undefined,
): McpServers | undefined =>
  access !== undefined && agent.acceptsMcpServers ? { ...mcpServers, ...access.mcpServers } : mcpServers;

export interface TestAddress {
  readonly packagePath: string;
  readonly url: string;
  /** Where commands do not share a network with each other, they still share files. */
  readonly socket: string | undefined;
  readonly token: string;
  /** What an agent has to know before it runs tests. */
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

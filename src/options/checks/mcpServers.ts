import type { McpServers } from "../../agents/contract.ts";
import { InvalidOptionsError } from "../../errors.ts";

/** The name under which agents see the test tools of an environment. */
export const TEST_SERVER_NAME = "sanddune";

/** Refuses a server of the caller that has the name of the test tools. */
export const requireFreeName = (mcpServers: McpServers): void => {
  if (!Object.hasOwn(mcpServers, TEST_SERVER_NAME)) return;
  throw new InvalidOptionsError(
    "mcpServers",
    `${TEST_SERVER_NAME} is the name of the tools that come with \`environment\`: choose another one.`,
  );
};

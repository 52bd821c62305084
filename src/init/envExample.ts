import type { AgentProvider } from "../agents/contract.ts";
import { ENV_FILE } from "../options/configDirectory.ts";
import type { BacklogManager } from "./backlogManagers.ts";

const HEAD = `# Copy this file to ${ENV_FILE}, which git ignores, and set the values there:
#   install -m 600 ${ENV_FILE}.example ${ENV_FILE}
# A key without a value takes it from your environment, if it is set there.
`;

const section = (comment: string, keys: readonly string[]): string =>
  keys.length === 0 ? "" : `\n# ${comment}\n${keys.map((key) => `${key}=\n`).join("")}`;

/** `.env.example`: the env vars that the agent and the backlog manager read, without any value. */
export const envExample = (
  agent: { readonly title: string; readonly provider: AgentProvider } | undefined,
  { envVars }: BacklogManager,
): string => {
  const credentials = agent?.provider.installation?.credentials ?? [];
  const others = Object.keys(agent?.provider.env ?? {}).filter((key) => !credentials.includes(key));
  return [
    HEAD,
    section(
      credentials.length === 1
        ? `The API key of ${agent?.title}.`
        : `The API key or token of ${agent?.title}: set one of these.`,
      credentials,
    ),
    section(`Optional settings of ${agent?.title}.`, others),
    ...Object.entries(envVars).map(([key, comment]) => section(comment, [key])),
  ].join("");
};

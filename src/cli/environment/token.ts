import { TOKEN_VARIABLE } from "../../environment/run/envVars.ts";
import { UsageError } from "../shared/usageError.ts";

export const TOKEN_FLAG = [
  "--token-env <name>",
  `the env var with the test server's token (default: ${TOKEN_VARIABLE})`,
] as const;

/**
 * The token of a test server, which stands on nobody's command line: others could read it there. It is taken out of this
 * process's env vars: the tests get those, and with them the work that is tested.
 */
export const takeToken = (name: string | undefined): string | undefined => {
  const variable = name ?? TOKEN_VARIABLE;
  const token = process.env[variable];
  delete process.env[variable];
  if (token !== undefined && token !== "") return token;
  if (name === undefined) return undefined;
  throw new UsageError(`--token-env: the env var ${JSON.stringify(name)} is not set. Put the token into it`);
};

import { TOKEN_VARIABLE } from "../../environment/run/envVars.ts";
import { UsageError } from "../shared/usageError.ts";

export const TOKEN_FLAG = [
  "--token-env <name>",
  `the env var with the test server's token (default: ${TOKEN_VARIABLE})`,
] as const;

/**
 * The token of a test server. It is an env var, because other users can read a command line. It is removed from the env vars
 * of this process, because the tests, and the work that they test, inherit these.
 */
export const takeToken = (name: string | undefined): string | undefined => {
  const variable = name ?? TOKEN_VARIABLE;
  const token = process.env[variable];
  delete process.env[variable];
  if (token !== undefined && token !== "") return token;
  if (name === undefined) return undefined;
  throw new UsageError(`--token-env: the env var ${JSON.stringify(name)} is not set. Set it to the token`);
};

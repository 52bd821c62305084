import type { McpServers } from "../../agents/contract.ts";
import { InvalidOptionsError } from "../../errors.ts";
import { isObject } from "../../tools/values/predicates.ts";
import { type Check, text, textByName, texts } from "./checks.ts";

/** The name under which agents see the test tools of an environment. */
export const TEST_SERVER_NAME = "sanddune";

/** Refuses an MCP server with the name that the test tools use. */
export const requireFreeName = (mcpServers: McpServers): void => {
  if (!Object.hasOwn(mcpServers, TEST_SERVER_NAME)) return;
  throw new InvalidOptionsError(
    "mcpServers",
    `${TEST_SERVER_NAME} is the name of the test tools of \`environment\`: choose another name.`,
  );
};

const isCommandEnv = (value: unknown): boolean =>
  textByName(value) === undefined &&
  Object.keys(value as object).every((name) => /^[A-Za-z_]\w*$/.test(name));
export const isAddress = (value: unknown): boolean =>
  typeof value === "string" && URL.canParse(value) && /^https?:$/.test(new URL(value).protocol);
const isMcpServer = (value: unknown): boolean => {
  if (!isObject(value)) return false;
  const { command, args = [], env = {}, url, headers = {}, ...others } = value;
  if (Object.keys(others).length > 0) return false;
  if (command === undefined) {
    return isAddress(url) && textByName(headers) === undefined && !("args" in value) && !("env" in value);
  }
  const isProgram = text(command) === undefined && texts(args) === undefined && isCommandEnv(env);
  return isProgram && url === undefined && !("headers" in value);
};
/** Values may be secrets, so the problem names only the server. */
export const mcpServers: Check = (value) => {
  if (!isObject(value)) return "must be an object";
  const wrong = Object.keys(value).find(
    (name) => !/^[A-Za-z][\w-]*$/.test(name) || !isMcpServer(value[name]),
  );
  return (
    wrong &&
    `${wrong} must be { command: "…", args?: […], env?: {…} } or { url: "…", headers?: {…} }, and its name letters, digits, - and _`
  );
};

import { existsSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { parseObject } from "../../../tools/json/parseJson.ts";
import { orUndefined } from "../../../tools/orUndefined.ts";

export const USUAL_DOCKER_SOCKET = "/var/run/docker.sock";
const UNIX_URL = "unix://";

/** Whether the client's own configuration may name another daemon. */
const hasContext = (): boolean => {
  const directory = process.env["DOCKER_CONFIG"] || join(homedir(), ".docker");
  const path = join(directory, "config.json");
  if (!existsSync(path)) return false;
  const config = orUndefined(() => parseObject(readFileSync(path, "utf8")));
  return config === undefined || (config["currentContext"] ?? "default") !== "default";
};

/** The socket of the daemon that the client would choose; `undefined` if it is not at one, or only the client knows. */
export const dockerSocket = (): string | undefined => {
  const { DOCKER_HOST: host, DOCKER_CONTEXT: context } = process.env;
  if (context) return undefined;
  if (host) return host.startsWith(UNIX_URL) ? host.slice(UNIX_URL.length) || undefined : undefined;
  return hasContext() ? undefined : USUAL_DOCKER_SOCKET;
};

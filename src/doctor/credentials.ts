import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import type { AgentProvider } from "../agents/contract.ts";
import { agentRegistry } from "../agents/registry.ts";
import { runAtBoundary } from "../boundary/boundary.ts";
import { isOpenToOthers, readEnvFile } from "../envVars/envFile.ts";
import { isTracked } from "../git/trackedFile.ts";
import { ENV_FILE } from "../options/configDirectory.ts";
import { shellQuote } from "../tools/shellQuote.ts";
import { checkBacklogCredentials } from "./backlog.ts";
import { type Finding, failed, note, ok } from "./finding.ts";
import type { Situation } from "./situation.ts";

const envFileOf = ({ repository }: Situation): string | undefined =>
  repository && join(dirname(repository.configDirectory), ENV_FILE);

/** Names only, never values. */
const presentNames = (names: readonly string[], file: Readonly<Record<string, string>>): string[] =>
  names.flatMap((name) => {
    if (file[name]) return [`${name} (${ENV_FILE})`];
    return process.env[name] ? [`${name} (environment)`] : [];
  });

const ofAgent = (agent: AgentProvider, file: Readonly<Record<string, string>>): Finding => {
  const title = `credentials of ${agent.name}`;
  const wanted = agent.installation?.credentials ?? [];
  const present = presentNames(wanted, file);
  if (wanted.length === 0) return ok(title, "none needed");
  if (present.length > 0) return ok(title, present.join(", "));
  return failed(
    title,
    `${wanted.join(" or ")} is not set`,
    `export ${wanted[0]}=… – or write it into ${ENV_FILE}`,
  );
};

const ofAnyAgent = (file: Readonly<Record<string, string>>): Finding => {
  const known = Object.values(agentRegistry).flatMap(({ create, exampleModel }) => [
    ...(create(exampleModel).installation?.credentials ?? []),
  ]);
  const present = presentNames([...new Set(known)], file);
  return present.length > 0
    ? ok("credentials", present.join(", "))
    : note("credentials", "no credential of a known agent is set");
};

/** Checks by name the credentials of the agent and of the backlog's program. */
export const checkCredentials = async (situation: Situation): Promise<Finding[]> => {
  const path = envFileOf(situation);
  let file: Readonly<Record<string, string>> = {};
  try {
    file = (path !== undefined && readEnvFile(path)) || {};
  } catch (error) {
    return [failed("env file", (error as Error).message, `Fix ${path}.`)];
  }
  return [
    situation.agent === undefined ? ofAnyAgent(file) : ofAgent(situation.agent, file),
    ...checkBacklogCredentials(situation, file),
  ];
};

/** Checks that only the user can read the env file. */
export const checkEnvFile = async (situation: Situation): Promise<Finding | undefined> => {
  const path = envFileOf(situation);
  if (path === undefined || situation.repository === undefined || !existsSync(path)) return undefined;
  if (await runAtBoundary(isTracked(situation.repository.topLevel, ENV_FILE))) {
    return failed("env file", "git tracks it, with the secrets in it", `git rm --cached ${ENV_FILE}`);
  }
  return isOpenToOthers(path)
    ? note("env file", `others on this machine can read ${path}`, `chmod 600 ${shellQuote(path)}`)
    : ok("env file", path);
};

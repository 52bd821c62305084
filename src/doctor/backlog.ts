import { ENV_FILE } from "../options/configDirectory.ts";
import type { BindMountSandboxHandle } from "../sandboxes/contract.ts";
import { shellQuote } from "../tools/shellQuote.ts";
import { installFix } from "./agents.ts";
import { type Finding, failed, ok } from "./finding.ts";
import type { Situation } from "./situation.ts";

/** Checks that the sandbox has the program with which prompts list the tasks. */
export const checkBacklogProgram = async (
  handle: BindMountSandboxHandle,
  { backlog }: Situation,
  sandbox: string,
): Promise<Finding[]> => {
  if (backlog?.program === undefined) return [];
  const { name, installation } = backlog.program;
  const { exitCode } = await handle.exec(`command -v ${shellQuote(name)}`);
  const title = `${name} in ${sandbox}`;
  if (exitCode === 0) return [ok(title, "found")];
  return [
    failed(
      title,
      `is not installed, and the tasks are in ${backlog.title}`,
      installFix(installation, sandbox),
    ),
  ];
};

/** Checks the credentials of that program by name: only declared env vars get into a sandbox. */
export const checkBacklogCredentials = (
  { backlog, agent }: Situation,
  file: Readonly<Record<string, string>>,
): Finding[] => {
  const [first, ...others] = backlog?.credentials ?? [];
  if (backlog === undefined || first === undefined) return [];
  const title = `credentials of ${backlog.title}`;
  const wanted = [first, ...others];
  const isDeclared = (name: string) => Object.hasOwn(file, name) || Object.hasOwn(agent?.env ?? {}, name);
  const inFile = wanted.find((name) => file[name]);
  if (inFile !== undefined) return [ok(title, `${inFile} (${ENV_FILE})`)];
  const inEnvironment = wanted.filter((name) => process.env[name]);
  const taken = inEnvironment.find(isDeclared);
  if (taken !== undefined) return [ok(title, `${taken} (environment)`)];
  const [left] = inEnvironment;
  if (left === undefined) {
    return [failed(title, `${wanted.join(" or ")} is not set`, `Write ${first}=… into ${ENV_FILE}`)];
  }
  return [
    failed(
      title,
      `${left} of your environment does not get into sandboxes, because ${ENV_FILE} does not name it`,
      `Write ${left}= into ${ENV_FILE}, without a value`,
    ),
  ];
};

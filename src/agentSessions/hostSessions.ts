import { lstatSync, readdirSync, realpathSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import type { AgentProvider, AgentSessions } from "../agents/contract.ts";
import { AgentSessionNotFoundError } from "../errors.ts";
import { globMatcher } from "../tools/globs.ts";
import { orUndefined } from "../tools/orUndefined.ts";
import { MAX_FILE_BYTES } from "./limits.ts";

/** A session file on the host, with its state when it was read. */
export interface HostSessionFile {
  /** Relative to the agent's directory. */
  readonly file: string;
  readonly path: string;
  /** Changes when the file changes. */
  readonly state: string;
}

/** The agent's session directory on the host, where its own resume command looks. */
export const hostDirectoryOf = ({ directory }: AgentSessions): string => {
  const named = directory.variable === undefined ? undefined : process.env[directory.variable];
  return named === undefined || named === "" ? join(homedir(), directory.inHome) : resolve(named);
};

/** A text that changes when the file changes; `undefined` if there is no file. */
export const stateOf = (path: string): string | undefined => {
  const status = lstatSync(path, { throwIfNoEntry: false });
  return status && `${status.ino} ${status.size} ${status.mtimeMs}`;
};

const namesIn = (directory: string): string[] => orUndefined(() => readdirSync(directory)) ?? [];

const expand = (directory: string, pattern: string): string[] =>
  pattern.split("/").reduce<string[]>(
    (found, name) => {
      const matches = globMatcher([name]);
      return found.flatMap((path) =>
        namesIn(join(directory, path))
          .filter(matches)
          .sort()
          .map((entry) => (path === "" ? entry : `${path}/${entry}`)),
      );
    },
    [""],
  );

/** The path of a directory without symbolic links, as agents use it. */
export const physicalPath = (path: string): string => {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
};

/** The host's files of a session, the main file first. Of several directories, that of `cwd` is used. */
export const findHostSession = (
  agent: AgentProvider & { readonly sessions: AgentSessions },
  sessionId: string,
  cwd: string,
): readonly HostSessionFile[] => {
  const { sessions } = agent;
  const directory = hostDirectoryOf(sessions);
  const [main = "", ...others] = sessions.files(sessionId);
  const candidates = expand(directory, main);
  const here = candidates.find((file) => sessions.place(file, physicalPath(cwd)) === file) ?? candidates[0];
  if (here === undefined)
    throw new AgentSessionNotFoundError(agent.name, sessionId, `there is no such session in ${directory}`);
  const beside = others
    .flatMap((pattern) => expand(directory, pattern))
    .filter((file) => file.startsWith(`${dirname(here)}/`));
  return [here, ...beside].map((file) => {
    const path = join(directory, file);
    const status = lstatSync(path, { throwIfNoEntry: false });
    if (status?.isFile() !== true) {
      throw new AgentSessionNotFoundError(agent.name, sessionId, `${path} is not a regular file`);
    }
    if (status.size > MAX_FILE_BYTES) {
      throw new AgentSessionNotFoundError(
        agent.name,
        sessionId,
        `${path} is larger than ${MAX_FILE_BYTES} bytes`,
      );
    }
    return { file, path, state: stateOf(path) ?? "" };
  });
};

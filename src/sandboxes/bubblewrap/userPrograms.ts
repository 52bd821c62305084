import { closeSync, existsSync, openSync, readSync } from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, join, sep } from "node:path";
import { findProgram, isDistrusted, realPath } from "../../process/hostPrograms.ts";

/** The programs of agents that sanddune knows, which users install for themselves. */
export const AGENT_PROGRAMS: readonly string[] = [
  ...["aider", "claude", "codex", "copilot", "cursor-agent", "gemini", "opencode", "pi"],
];

/** Programs that the user has installed outside of the directories that every sandbox sees. */
export interface UserPrograms {
  /** The real path of each, by its name. */
  readonly links: ReadonlyMap<string, string>;
  /** The programs and their installations. */
  readonly paths: readonly string[];
}

/** The host's directories that every sandbox sees. */
const SYSTEM = /^\/(usr|bin|sbin|lib\w*)\//;

/** The interpreter of a script: a path, or a name that `env` looks for. */
const interpreterOf = (path: string): string | undefined => {
  const start = Buffer.alloc(256);
  try {
    const file = openSync(path, "r");
    readSync(file, start);
    closeSync(file);
  } catch {
    // A program that may be executed but not read.
    return undefined;
  }
  const [, program = "", argument = ""] =
    /^#!\s*(\S+)(?:[ \t]+(?:-S[ \t]+)?(\S+))?/.exec(start.toString("latin1")) ?? [];
  const named = basename(program) === "env" ? argument : program;
  return named === "" ? undefined : named;
};

/** A directory below one of these is an installation, not a general directory. */
const isInstallation = (directory: string): boolean => {
  const home = realPath(homedir()) ?? homedir();
  return (
    !`${directory}${sep}`.startsWith(home + sep) || directory.startsWith(join(home, ".local/share") + sep)
  );
};

/** The least that a program needs to run: its package, its Python environment, or the file alone. */
const installationOf = (path: string, isScript: boolean): string => {
  const packages = path.indexOf("/node_modules/");
  if (packages !== -1) return path.slice(0, packages + "/node_modules".length);
  const above = dirname(dirname(path));
  if (existsSync(join(above, "pyvenv.cfg")) || /^python[\d.]*$/.test(basename(path))) return above;
  return isScript && isInstallation(dirname(path)) ? dirname(path) : path;
};

const addProgram = (name: string, links: Map<string, string>): void => {
  const found = findProgram(name);
  const target = realPath(found);
  // In a checkout, an agent may have written the line that names the interpreter.
  if (target !== undefined && !SYSTEM.test(found) && !isDistrusted(target)) links.set(name, target);
};

/** The files outside of the system's directories that a program needs. An interpreter found by `env` is a program, too. */
const pathsOf = (program: string, links: Map<string, string>): readonly string[] => {
  const interpreter = interpreterOf(program);
  const isPath = interpreter?.includes(sep) ?? false;
  if (interpreter !== undefined && !isPath) addProgram(interpreter, links);
  // The Python of an environment is a link to one elsewhere: both are needed.
  const interpreters = interpreter !== undefined && isPath ? [interpreter, realPath(interpreter)] : [];
  return [program, ...interpreters]
    .filter((path) => path !== undefined && !SYSTEM.test(path))
    .map((path) => installationOf(path as string, path === program && interpreter !== undefined));
};

/** Finds programs on the PATH of this process, with the files that they need. Agents' checkouts are left out. */
export const findUserPrograms = (names: readonly string[]): UserPrograms => {
  const links = new Map<string, string>();
  for (const name of names) addProgram(name, links);
  const paths = new Set<string>();
  // Interpreters are added on the way.
  for (const target of links.values()) for (const path of pathsOf(target, links)) paths.add(path);
  return { links, paths: [...paths] };
};

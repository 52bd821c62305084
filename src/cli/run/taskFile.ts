import { readFile } from "node:fs/promises";
import { text } from "node:stream/consumers";
import { ProjectConfigError } from "../../errors/commandErrors.ts";
import { InvalidOptionsError, type InvalidTaskError, SandduneError } from "../../errors.ts";
import type { RunOptions } from "../../options/runOptions.ts";
import { findProject, type Project } from "../../project/findProject.ts";
import type { LineProblem } from "../../tools/json/textProblem.ts";
import { flagOf } from "../shared/flagNames.ts";
import { messageOf } from "../shared/reportError.ts";
import { UsageError } from "../shared/usageError.ts";
import type { RunFlags } from "./runFlags.ts";
import { isTaskKey, readTaskLines, type TaskLine } from "./taskLine.ts";
import { taskOptionsOf } from "./taskOptions.ts";

const STANDARD_INPUT = "-";
const MAX_PROBLEMS = 10;

export interface PlannedTasks {
  readonly tasks: readonly RunOptions[];
  /** The line of each task. */
  readonly lines: readonly number[];
  /** The error about a task, with the keys and lines of the file. */
  refusal(error: InvalidTaskError): UsageError;
}

const readTasks = async (path: string): Promise<string> => {
  if (path === STANDARD_INPUT) return text(process.stdin);
  return readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(`--tasks: ${path} cannot be read (${error.code})`);
  });
};

const refuse = (place: string, problems: readonly LineProblem[]): UsageError => {
  const shown = problems.slice(0, MAX_PROBLEMS).map(({ line, problem }) => `${place}:${line}: ${problem}`);
  const others = problems.length - shown.length;
  return new UsageError([...shown, ...(others > 0 ? [`… and ${others} more`] : [])].join("\n"));
};

/** The key of an option in a line: the name of its flag in camel case. */
const keyOf = (option: string): string =>
  isTaskKey(option)
    ? option
    : flagOf(option)
        .replace(/^--/, "")
        .replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());

const problemOf = (error: unknown): string => {
  if (error instanceof InvalidOptionsError) return `${keyOf(error.option)}: ${error.problem}`;
  if (error instanceof ProjectConfigError) throw error;
  if (error instanceof UsageError || error instanceof SandduneError) return messageOf(error);
  throw error;
};

/** Looks up each repository once, because most tasks share one. */
const projectFinder = () => {
  const projects = new Map<string, Promise<Project>>();
  return (cwd = "."): Promise<Project> => {
    const project = projects.get(cwd) ?? findProject(cwd);
    projects.set(cwd, project);
    return project;
  };
};

const planAll = async (flags: RunFlags, tasks: readonly TaskLine[]) => {
  const projectOf = projectFinder();
  const planned: RunOptions[] = [];
  const problems: LineProblem[] = [];
  for (const [index, { line, values }] of tasks.entries()) {
    try {
      const project = await projectOf(values.cwd ?? flags.cwd);
      const options = await taskOptionsOf(flags, values, project);
      planned.push({ ...options, name: options.name ?? `task ${index + 1}` });
    } catch (error) {
      problems.push({ line, problem: problemOf(error) });
    }
  }
  return { planned, problems };
};

/** Reads a task file. Refuses it if any line is not valid. */
export const planTasks = async (path: string, flags: RunFlags): Promise<PlannedTasks> => {
  const place = path === STANDARD_INPUT ? "standard input" : path;
  const { tasks, problems } = readTaskLines(await readTasks(path));
  if (problems.length > 0) throw refuse(place, problems);
  if (tasks.length === 0) throw new UsageError(`--tasks: there is no task in ${place}`);
  const { planned, problems: found } = await planAll(flags, tasks);
  if (found.length > 0) throw refuse(place, found);
  const lines = tasks.map(({ line }) => line);
  return {
    tasks: planned,
    lines,
    refusal: ({ index, problem, cause }) => {
      const inLines = problem.replace(/tasks\[(\d+)\]/g, (_, other) => `line ${lines[Number(other)]}`);
      const said = cause === undefined ? inLines : problemOf(cause);
      return refuse(place, [{ line: lines[index] ?? 0, problem: said }]);
    },
  };
};

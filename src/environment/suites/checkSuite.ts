import { posix } from "node:path";
import {
  type Check,
  milliseconds,
  oneOf,
  problemOf,
  text,
  unknownMember,
} from "../../options/checks/checks.ts";
import { isObject } from "../../tools/values/predicates.ts";
import { SCRATCH_PREFIX, SUITE_FORMATS, SUITE_RUNNERS } from "./definition.ts";

const isWord = (value: unknown): value is string => text(value) === undefined;

const staysInside = (path: string): boolean =>
  !posix.isAbsolute(path) && !/^\.\.(\/|$)/.test(posix.normalize(path));

const directory: Check = (value) =>
  isWord(value) && staysInside(value)
    ? undefined
    : "must be a directory inside the worktree, as a relative path";

const reportFile: Check = (value) => {
  if (!isWord(value)) return "must be the path of a file";
  const path = value.startsWith(SCRATCH_PREFIX) ? value.slice(SCRATCH_PREFIX.length) : value;
  return path !== "" && !path.endsWith("/") && posix.normalize(path) !== "." && staysInside(path)
    ? undefined
    : `must be the path of a file inside \`cwd\`, relative to it, or below ${SCRATCH_PREFIX}`;
};

const args: Check = (value) =>
  Array.isArray(value) && value.every((each) => typeof each === "string" && !each.includes("\0"))
    ? undefined
    : "must be a list of strings";

const line: Check = (value) => (isWord(value) ? undefined : "must be a line for sh");

const PLACE = { cwd: directory, timeoutMs: milliseconds };
const OF_RUNNER: Record<string, Check> = {
  runner: oneOf(SUITE_RUNNERS),
  args,
  ...PLACE,
  runnerFrom: oneOf(["worktree"]),
};
const OF_COMMAND: Record<string, Check> = {
  command: line,
  format: oneOf(SUITE_FORMATS),
  report: reportFile,
  ...PLACE,
};

const runnerFromProblem = ({
  runner,
  args: given,
  runnerFrom,
}: Record<string, unknown>): string | undefined => {
  if (runnerFrom === undefined) return undefined;
  if (runner !== "vitest")
    return `\`runnerFrom\` of a suite is for vitest only: ${String(runner)} always comes from the image.`;
  return Array.isArray(given) && given.some((each) => String(each).includes("{environment}"))
    ? "A suite with `runnerFrom` must not name {environment}: a runner of the work could forge the results of the environment's tests."
    : undefined;
};

/** The first problem of a suite's definition, as a sentence; `undefined` if there is none. */
export const checkSuite = (value: unknown): string | undefined => {
  if (!isObject(value)) {
    return 'A suite is an object: { runner: "pytest" }, or { command: "make test", format: "junit" }.';
  }
  const isRunner = value["runner"] !== undefined;
  if (isRunner === (value["command"] !== undefined)) {
    return `A suite has a \`runner\` (${SUITE_RUNNERS.join(", ")}) or a \`command\`, and not both.`;
  }
  const checks = isRunner ? OF_RUNNER : OF_COMMAND;
  const unknown = unknownMember(value, checks);
  if (unknown !== undefined) {
    return `A suite with a \`${isRunner ? "runner" : "command"}\` has no \`${unknown}\`; expected one of: ${Object.keys(checks).join(", ")}.`;
  }
  for (const [key, check] of Object.entries(checks)) {
    const isMissing = value[key] === undefined && key !== "format";
    const problem = isMissing ? undefined : problemOf(check, value[key]);
    if (problem !== undefined) return `\`${key}\` of a suite: ${problem.replace(/\.$/, "")}.`;
  }
  if (isRunner) return runnerFromProblem(value);
  return value["format"] === "exit-code" && value["report"] !== undefined
    ? "A suite with the `format` `exit-code` has no `report`: it would not be read."
    : undefined;
};

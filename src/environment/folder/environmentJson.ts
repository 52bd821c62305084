import { milliseconds } from "../../options/checks/checks.ts";
import { isObject } from "../../tools/values/predicates.ts";
import { concurrency, definitionProblem, fileList, membersProblem } from "../definition/checkDefinition.ts";
import type { EnvironmentDefinition } from "../definition/definition.ts";
import { DEFAULT_SUITE_TIMEOUT_MS } from "../limits.ts";
import { checkSuite } from "../suites/checkSuite.ts";
import type { SuiteDefinition } from "../suites/definition.ts";
import { suite } from "../suites/suite.ts";

/** The environment's own server, in any language, that speaks the protocol of a test server. */
export interface ServerDefinition {
  /** A line for `sh`. The env var PORT names its port. It must stay in the foreground. */
  readonly start: string;
  /** A free one is chosen when it is left out. */
  readonly port?: number;
  /** The path that answers with 200 once tests can be run. */
  readonly health: string;
  readonly startTimeoutMs: number;
  /** How long it may take to answer with results. */
  readonly timeoutMs: number;
}

export type JsonEnvironment = { readonly files?: readonly string[] } & (
  | { readonly type: "server"; readonly server: ServerDefinition }
  | { readonly type: "suites"; readonly definition: EnvironmentDefinition }
);

const DEFAULT_START_TIMEOUT_MS = 60_000;

const SERVER = {
  start: (value: unknown) =>
    typeof value === "string" && value.trim() !== ""
      ? undefined
      : "must be a line for sh, e.g. python3 server.py",
  port: (value: unknown) =>
    Number.isInteger(value) && (value as number) >= 1 && (value as number) <= 65_535
      ? undefined
      : "must be a port, a whole number from 1 to 65535",
  health: (value: unknown) =>
    typeof value === "string" && /^\/[!-~]*$/.test(value) ? undefined : "must be a path, e.g. /health",
  startTimeoutMs: milliseconds,
  timeoutMs: milliseconds,
  files: fileList,
};

const SUITES = {
  suites: (value: unknown) =>
    isObject(value)
      ? undefined
      : 'must be an object: suites by their paths, e.g. { "unit": { "runner": "pytest" } }',
  timeoutMs: milliseconds,
  concurrency,
  files: fileList,
};

const readServer = (value: Readonly<Record<string, unknown>>): JsonEnvironment => {
  const problem = membersProblem(value, SERVER);
  if (problem !== undefined) throw new Error(problem);
  const {
    files,
    health = "/health",
    startTimeoutMs = DEFAULT_START_TIMEOUT_MS,
    timeoutMs = DEFAULT_SUITE_TIMEOUT_MS,
    ...server
  } = value;
  return {
    type: "server",
    server: { health, startTimeoutMs, timeoutMs, ...server } as ServerDefinition,
    ...(files !== undefined && { files: files as string[] }),
  };
};

const readSuites = (value: Readonly<Record<string, unknown>>): JsonEnvironment => {
  const problem = membersProblem(value, SUITES);
  if (problem !== undefined) throw new Error(problem);
  const { suites, files, ...others } = value as { suites: Record<string, SuiteDefinition>; files?: string[] };
  const tests = Object.entries(suites).map(([path, definition]) => {
    const wrong = checkSuite(definition);
    if (wrong !== undefined) throw new Error(`has an invalid suite ${JSON.stringify(path)}: ${wrong}`);
    return [path, suite(definition)] as const;
  });
  const definition: EnvironmentDefinition = { ...others, tests: Object.fromEntries(tests) };
  const wrong = definitionProblem(definition)?.replace("has `tests`, which", "has `suites`, which");
  if (wrong !== undefined) throw new Error(wrong);
  return { type: "suites", definition, ...(files !== undefined && { files }) };
};

/** Reads the text of an `environment.json`. The message of an `Error` that it throws continues a sentence about the file. */
export const readEnvironmentJson = (text: string): JsonEnvironment => {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new Error(`is not JSON: ${(cause as Error).message}`, { cause });
  }
  if (!isObject(value)) throw new Error("is not an object");
  if ("start" in value && "suites" in value)
    throw new Error("has both `start` and `suites`: keep one of them");
  if ("start" in value) return readServer(value);
  if ("suites" in value) return readSuites(value);
  throw new Error(
    'needs `start`, the command of a server, or `suites`: { "start": "python3 server.py", "port": 8000 }',
  );
};

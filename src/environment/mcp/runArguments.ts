import { shorten } from "../../tools/shorten.ts";
import type { ParameterValues } from "../contract.ts";
import { valuesProblem } from "../definition/parameters.ts";
import { testPathProblem } from "../definition/testPath.ts";
import { LIST_TESTS } from "./tools.ts";

export interface RunArguments {
  /** Empty for all tests. */
  readonly testPath: string;
  readonly parameters: ParameterValues;
}

const KNOWN = ["test_path", "parameters"];

const quoted = (name: string): string => JSON.stringify(shorten(name, 60));

/** Checked here, because another path would be another address of the test server. */
const checkTestPath = (given: unknown): string => {
  if (given === "") return given;
  const problem = typeof given === "string" ? testPathProblem(given) : "is not a string";
  if (problem === undefined) return given as string;
  throw new Error(`test_path ${problem}. Pass a path from ${LIST_TESTS}, or leave it out to run all tests.`);
};

const checkParameters = (given: unknown): ParameterValues => {
  const problem = valuesProblem(given);
  if (problem !== undefined) throw new Error(problem);
  return given as ParameterValues;
};

/**
 * Throws an error for the agent, which says what to pass instead. Models pass `null` for an argument that they leave out. An unknown
 * argument is refused: ignoring it would run too many tests.
 */
export const readRunArguments = (given: Readonly<Record<string, unknown>> = {}): RunArguments => {
  const unknown = Object.keys(given).find((name) => !KNOWN.includes(name));
  if (unknown !== undefined) {
    throw new Error(`Unknown argument ${quoted(unknown)}; expected one of: ${KNOWN.join(", ")}.`);
  }
  return {
    testPath: checkTestPath(given["test_path"] ?? ""),
    parameters: checkParameters(given["parameters"] ?? {}),
  };
};

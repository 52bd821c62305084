import type { ParameterValues, TestDescription, TestParameter } from "../../environment/contract.ts";
import { UsageError } from "../shared/usageError.ts";

const split = (assignment: string): readonly [string, string] => {
  const [, name, value] = /^([^=]+)=(.*)$/s.exec(assignment) ?? [];
  if (name === undefined || value === undefined) {
    throw new UsageError(`--param ${JSON.stringify(assignment)}: write NAME=VALUE`);
  }
  return [name, value];
};

const read = (name: string, text: string, type: TestParameter["type"]): string | number | boolean => {
  if (type === "string") return text;
  if (type === "boolean" && (text === "true" || text === "false")) return text === "true";
  if (type === "number" && text.trim() !== "" && Number.isFinite(Number(text))) return Number(text);
  const wanted = type === "number" ? "a number" : "true or false";
  throw new UsageError(`--param ${name}: ${JSON.stringify(text)} is not ${wanted}`);
};

/** The values of parameters, with the types that the tests declare. */
export const parametersOf = (
  assignments: readonly string[],
  tests: readonly TestDescription[],
): ParameterValues =>
  Object.fromEntries(
    assignments.map(split).map(([name, text]) => {
      const declared = tests.map(({ parameters }) => parameters?.[name]).find((found) => found !== undefined);
      return [name, read(name, text, declared?.type ?? "string")];
    }),
  );

import { globProblem } from "../../tools/globs.ts";
import { type Check, members } from "./checks.ts";

const MAX_GLOBS = 100;

const artifacts: Check = (value) => {
  if (!Array.isArray(value) || value.length > MAX_GLOBS)
    return `must be a list of at most ${MAX_GLOBS} globs`;
  for (const glob of value) {
    const problem = typeof glob === "string" ? globProblem(glob) : "must be a string";
    if (problem !== undefined) return `${JSON.stringify(glob)}: ${problem}`;
  }
  return undefined;
};

/** The option `trajectory`. */
export const trajectory: Check = (value) => {
  if (value === true) return undefined;
  if (typeof value !== "object" || value === null) return "must be true, or an object with `artifacts`";
  members("trajectory", value, { artifacts });
  return undefined;
};

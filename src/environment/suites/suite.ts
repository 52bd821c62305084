import { InvalidOptionsError } from "../../errors.ts";
import { checkSuite } from "./checkSuite.ts";
import type { SuiteDefinition } from "./definition.ts";

/** An existing suite among the `tests` of an environment. Made with `suite()`. */
export interface TestSuite {
  readonly type: "suite";
  readonly definition: SuiteDefinition;
}

/**
 * Mounts an existing suite among the tests of an environment: each of its own tests gets a path below that of the suite.
 *
 * @example
 * defineEnvironment({ tests: { unit: suite({ runner: "pytest", args: ["{environment}/tests"] }) } });
 */
export const suite = (definition: SuiteDefinition): TestSuite => {
  const problem = checkSuite(definition);
  if (problem !== undefined) throw new InvalidOptionsError("suite", problem);
  const copy = structuredClone(definition);
  if ("runner" in copy && copy.args !== undefined) Object.freeze(copy.args);
  return Object.freeze({ type: "suite", definition: Object.freeze(copy) });
};

/** Checks the shape, not the class: the environment may import another copy of sanddune. */
export const isSuite = (value: unknown): value is TestSuite => {
  if (typeof value !== "object" || value === null) return false;
  const { type, definition } = value as { type?: unknown; definition?: unknown };
  return type === "suite" && checkSuite(definition) === undefined;
};

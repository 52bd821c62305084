import type { EnvironmentSchema, TestDescription, TestParameters } from "../contract.ts";
import { isSuite } from "../suites/suite.ts";
import type { EnvironmentDefinition, EnvironmentTest } from "./definition.ts";

/** The parameters that a test declares. */
export const declaredParameters = (test: EnvironmentDefinition["tests"][string]): TestParameters =>
  typeof test === "function" || isSuite(test) ? {} : (test.parameters ?? {});

const describe = (path: string, test: EnvironmentDefinition["tests"][string]): TestDescription => {
  if (isSuite(test)) return { path, isSuite: true };
  if (typeof test === "function") return { path };
  const { description, parameters = {} }: EnvironmentTest = test;
  return {
    path,
    ...(description !== undefined && { description }),
    ...(Object.keys(parameters).length > 0 && { parameters }),
  };
};

/** The description of a definition's tests. */
export const schemaOf = ({ tests }: EnvironmentDefinition): EnvironmentSchema => ({
  tests: Object.entries(tests).map(([path, test]) => describe(path, test)),
});

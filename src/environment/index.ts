// Everything that the definition of an environment imports.

export type {
  ParameterValues,
  TestDescription,
  TestParameter,
  TestParameters,
  TestResult,
  TestResults,
} from "./contract.ts";
export {
  defineEnvironment,
  type EnvironmentDefinition,
  type EnvironmentTest,
  type SetupContext,
  type TestCommandOptions,
  type TestCommandResult,
  type TestContext,
  type TestFunction,
} from "./definition/definition.ts";
export type { CommandSuite, RunnerSuite, SuiteDefinition } from "./suites/definition.ts";
export { suite, type TestSuite } from "./suites/suite.ts";

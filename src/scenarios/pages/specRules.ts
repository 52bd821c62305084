import type { JsonNode } from "../../tools/json/jsonText.ts";
import type { LineProblem } from "../../tools/json/textProblem.ts";
import type { ScenarioSuite } from "../suite/suite.ts";

const memberOf = (node: JsonNode, key: string): JsonNode | undefined => node.members?.get(key)?.node;

const itemsOf = (node: JsonNode, key: string): readonly JsonNode[] => memberOf(node, key)?.items ?? [];

/** Parts without which the execution of a scenario has no meaning. */
const missingParts = (spec: JsonNode, runnable: string): string[] =>
  [
    memberOf(spec, "fixture") === undefined &&
      `the key "fixture" is missing: a scenario that is ${runnable} needs a directory to work on`,
    itemsOf(spec, "assertions").length === 0 &&
      "a scenario without assertions would always pass. Add some, or make it runnable: manual",
  ].filter((problem) => problem !== false);

const stepProblems = (
  step: JsonNode,
  runnable: string,
  cliCommand: ScenarioSuite["cliCommand"],
): string[] => {
  const usesCli = memberOf(step, "cli") !== undefined;
  return [
    runnable === "cli" &&
      memberOf(step, "agent") !== undefined &&
      "a scenario that is runnable: cli cannot have an agent step. Set runnable: agent",
    usesCli &&
      cliCommand === undefined &&
      "a cli step needs the suite's tool: set cliCommand in .sanddune/scenarios.json, or write the step with cmd",
    usesCli &&
      itemsOf(step, "flags").length > 0 &&
      cliCommand?.includes("{...flags}") === false &&
      "the flags would be ignored: the suite's cliCommand has no {...flags}",
  ].filter((problem) => problem !== false);
};

/** Problems of a spec that the schema does not find. The spec may have any form: the schema is checked separately. */
export const checkRules = (
  spec: JsonNode,
  { cliCommand }: Pick<ScenarioSuite, "cliCommand">,
): readonly LineProblem[] => {
  const runnable = memberOf(spec, "runnable")?.value;
  // A manual scenario is never executed, so it may be incomplete.
  if (typeof runnable !== "string" || runnable === "manual") return [];
  const ofSteps = ["prerequisites", "steps"].flatMap((key) =>
    itemsOf(spec, key).flatMap((step, index) =>
      stepProblems(step, runnable, cliCommand).map((problem) => ({
        line: step.line,
        problem: `${key}[${index}]: ${problem}`,
      })),
    ),
  );
  return [...missingParts(spec, runnable).map((problem) => ({ line: spec.line, problem })), ...ofSteps];
};

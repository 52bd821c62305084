import { basename } from "node:path";
import scenarioSchema from "../../../schemas/scenario.schema.json" with { type: "json" };
import { parseJsonText } from "../../tools/json/jsonText.ts";
import { type LineProblem, TextProblem } from "../../tools/json/textProblem.ts";
import { validate } from "../../tools/json/validate.ts";
import type { Scenario, ScenarioSpec } from "../spec.ts";
import type { ScenarioSuite } from "../suite/suite.ts";
import { readFrontMatter } from "./frontMatter.ts";
import { scenarioIdProblem } from "./scenarioId.ts";
import { findSpecBlock } from "./specBlock.ts";
import { checkRules } from "./specRules.ts";

/** Its id is set even if the rest has mistakes, so that another page with the same id is noticed. */
export interface ReadPage {
  readonly id?: { readonly value: string; readonly line: number };
  readonly scenario?: Scenario;
  readonly problems: readonly LineProblem[];
}

/** Runs `work`, and adds a `TextProblem` that it throws to the problems. */
const collecting = <A>(problems: LineProblem[], work: () => A): A | undefined => {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof TextProblem)) throw error;
    problems.push({ line: error.line, problem: error.problem });
    return undefined;
  }
};

const readId = (
  page: string,
  values: ReturnType<typeof readFrontMatter>["values"],
): { value: string; line: number } => {
  const given = values.get("test_id") ?? values.get("id");
  const { value, line } = given ?? { value: basename(page, ".md"), line: 1 };
  const problem = scenarioIdProblem(value);
  if (problem === undefined) return { value, line };
  const remedy = given === undefined ? ". Rename the page, or set test_id in its front matter" : "";
  throw new TextProblem(line, problem + remedy);
};

const HEADING = /^ {0,3}#{1,6}\s+(?=\S)/;

const titleOf = (lines: readonly string[]): string | undefined =>
  lines
    .find((text) => HEADING.test(text))
    ?.replace(HEADING, "")
    .replace(/\s#+\s*$/, "")
    .trim();

const readSpec = (
  lines: readonly string[],
  suite: Pick<ScenarioSuite, "cliCommand">,
  problems: LineProblem[],
): Pick<Scenario, "spec" | "fixtureLine"> => {
  const block = findSpecBlock(lines);
  // A page without a block is for people.
  if (block === undefined) return { spec: { runnable: "manual" } };
  const { node, problems: ofJson } = parseJsonText(block.text, block.line);
  problems.push(...ofJson, ...validate(node, scenarioSchema), ...checkRules(node, suite));
  const fixture = node.members?.get("fixture");
  return { spec: node.value as ScenarioSpec, ...(fixture && { fixtureLine: fixture.line }) };
};

/** Reads the text of a scenario page, and finds all its mistakes. */
export const readPage = (page: string, text: string, suite: Pick<ScenarioSuite, "cliCommand">): ReadPage => {
  const problems: LineProblem[] = [];
  const lines = text.split(/\r\n|\n/);
  const frontMatter = collecting(problems, () => readFrontMatter(lines));
  if (frontMatter === undefined) return { problems };
  const id = collecting(problems, () => readId(page, frontMatter.values));
  // Blank lines keep the line numbers right.
  const prose = lines.map((line, index) => (index < frontMatter.end ? "" : line));
  const read = collecting(problems, () => readSpec(prose, suite, problems));
  if (id === undefined || read === undefined || problems.length > 0) return { id, problems };
  return { id, scenario: { id: id.value, title: titleOf(prose) ?? id.value, page, ...read }, problems };
};

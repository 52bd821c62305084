import { readdirSync } from "node:fs";
import { basename, join } from "node:path";
import { ScenarioConfigError } from "../../errors.ts";
import { readText } from "../../tools/json/readText.ts";
import { type LineProblem, TextProblem } from "../../tools/json/textProblem.ts";
import { shorten } from "../../tools/shorten.ts";
import type { Scenario } from "../spec.ts";
import type { ScenarioSuite } from "../suite/suite.ts";
import type { PageProblem } from "./pageProblem.ts";
import { type ReadPage, readPage } from "./readPage.ts";
import { scenarioIdProblem } from "./scenarioId.ts";
import { shownPath } from "./shownPath.ts";

/** The scenarios of a suite in the order of their ids, and the problems of its pages in the order of the pages. */
export interface LoadedScenarios {
  readonly scenarios: readonly Scenario[];
  readonly problems: readonly PageProblem[];
  /** The sorted ids of all pages, also of those with mistakes, whose records stay. */
  readonly ids: readonly string[];
}

const compare = (one: string, other: string): number => (one < other ? -1 : Number(one > other));

/** Introductions, not scenarios. */
const NO_SCENARIOS = ["index.md", "readme.md"];

const isPage = (name: string): boolean => name.endsWith(".md") && !NO_SCENARIOS.includes(name.toLowerCase());

/** Hidden pages, and pages of packages, do not belong to the suite. */
const isForeign = (directoryName: string): boolean =>
  directoryName.startsWith(".") || directoryName === "node_modules";

/** Directories only group pages. Links to directories are not followed. */
const pagesIn = (directory: string): string[] =>
  readdirSync(directory, { withFileTypes: true })
    .sort((one, other) => compare(one.name, other.name))
    .flatMap((entry) => {
      const path = join(directory, entry.name);
      if (entry.isDirectory()) return isForeign(entry.name) ? [] : pagesIn(path);
      return isPage(entry.name) ? [path] : [];
    });

const listPages = (scenarioDir: string): string[] => {
  try {
    return pagesIn(scenarioDir);
  } catch (error) {
    const problem = `its pages cannot be listed (${(error as NodeJS.ErrnoException).code})`;
    throw new ScenarioConfigError(scenarioDir, [{ problem }], "Fix that", { cause: error });
  }
};

const read = (page: string, suite: ScenarioSuite): ReadPage => {
  try {
    return readPage(page, readText(page), suite);
  } catch (error) {
    if (error instanceof TextProblem) return { problems: [{ line: error.line, problem: error.problem }] };
    throw error;
  }
};

type FoundPage = ReadPage & { readonly page: string };

/** The ids of pages. If a page cannot be read, its file name is taken. */
const idsOf = (pages: readonly FoundPage[]): string[] => {
  const ids = pages
    .map(({ page, id }) => id?.value ?? basename(page, ".md"))
    .filter((id) => scenarioIdProblem(id) === undefined);
  return [...new Set(ids)].sort(compare);
};

/** Ids are directory names, and some file systems ignore case. */
const groupById = (pages: readonly FoundPage[]): ReadonlyMap<string, readonly FoundPage[]> => {
  const groups = new Map<string, FoundPage[]>();
  for (const page of pages) {
    const key = page.id?.value.toLowerCase();
    if (key !== undefined) groups.set(key, [...(groups.get(key) ?? []), page]);
  }
  return groups;
};

const MAX_PROBLEMS = 20;
const MAX_PROBLEM_LENGTH = 500;

/** Limits the output: a page can contain any number of mistakes, and names of any length. */
const shortened = (problems: readonly LineProblem[]): readonly LineProblem[] => {
  const shown = problems.slice(0, MAX_PROBLEMS).map(({ line, problem }) => ({
    line,
    problem: shorten(problem, MAX_PROBLEM_LENGTH),
  }));
  const [first] = problems.slice(MAX_PROBLEMS);
  if (first === undefined) return shown;
  return [...shown, { line: first.line, problem: `${problems.length - MAX_PROBLEMS} more problems follow` }];
};

/** Reads all pages of a suite. A page with mistakes is in `problems`, and does not stop the others. */
export const loadScenarios = async (suite: ScenarioSuite): Promise<LoadedScenarios> => {
  // Synchronous, because asynchronous reads of small files take longer.
  const pages: FoundPage[] = listPages(suite.scenarioDir).map((page) => ({ page, ...read(page, suite) }));
  const groups = groupById(pages);
  const scenarios: Scenario[] = [];
  const problems: PageProblem[] = [];
  for (const found of pages) {
    const { page, id, scenario } = found;
    const twins = (groups.get(id?.value.toLowerCase() ?? "") ?? []).filter((other) => other !== found);
    const ofTwins = twins.map((twin) => ({
      line: id?.line ?? 1,
      problem: `${shownPath(twin.page)} has the same id, ${JSON.stringify(id?.value)} (case is ignored). Set another test_id in the front matter`,
    }));
    const ofPage = [...ofTwins, ...found.problems].sort((one, other) => one.line - other.line);
    problems.push(...shortened(ofPage).map((problem) => ({ page, ...problem })));
    if (scenario !== undefined && twins.length === 0) scenarios.push(scenario);
  }
  return {
    scenarios: scenarios.sort((one, other) => compare(one.id, other.id)),
    problems,
    ids: idsOf(pages),
  };
};

import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { SuiteReport } from "../../../src/environment/suites/report.ts";

/** What a real runner wrote; see the README of the recordings. */
export const recording = (name: string): string =>
  readFileSync(join(import.meta.dirname, "recordings", name), "utf8");

/** The paths of a report's tests, those that failed with a cross before them. */
export const outline = ({ tests }: Pick<SuiteReport, "tests">): string[] =>
  tests.map(({ path, passed }) => (passed ? path : `✗ ${path}`));

/** Why a test failed. */
export const messageOf = ({ tests }: Pick<SuiteReport, "tests">, path: string): string | undefined => {
  const test = tests.find((each) => each.path === path);
  if (test === undefined) throw new Error(`there is no test ${path}`);
  return test.message;
};

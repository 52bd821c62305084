// docs/behaviours/: every promise of sanddune, one a line, with the requirements that it meets and the tests that show it.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const REQUIREMENTS = "requirements.jsonl";

const linesOf = (file) =>
  readFileSync(file, "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));

/** `test/git/x.test.ts: part of a title`; without a title all tests of the file are meant. */
const TEST = /^(test\/[\w/.-]+\.test\.ts)(?:: (.+))?$/;

/** The file of a test, and a part of its title. */
export const parseTest = (test) => {
  const [, file, title = ""] = TEST.exec(test) ?? [];
  return file === undefined ? undefined : { file, title };
};

/** The sections in order, each with its promises, and the text of every requirement by its number. */
export const readBehaviours = (root) => {
  const directory = join(root, "docs/behaviours");
  const sections = readdirSync(directory)
    .filter((name) => name.endsWith(".jsonl") && name !== REQUIREMENTS)
    .sort()
    .map((name) => {
      const [heading, ...promises] = linesOf(join(directory, name));
      return { path: `docs/behaviours/${name}`, ...heading, promises };
    });
  const requirements = new Map(linesOf(join(directory, REQUIREMENTS)).map(({ id, text }) => [id, text]));
  return { sections, requirements };
};

/** A test that is named wrongly, a requirement that does not exist, or one that no promise meets. */
export const problemsOfBehaviours = (root, { sections, requirements }) => {
  const problems = [];
  const met = new Set();
  for (const { path, promises } of sections) {
    for (const [index, { promise, tests = [], requirements: ids = [] }] of promises.entries()) {
      const where = `${path}:${index + 2}`;
      if (typeof promise !== "string" || tests.length === 0)
        problems.push(`${where}: needs a promise and tests`);
      for (const id of ids) {
        met.add(id);
        if (!requirements.has(id)) problems.push(`${where}: ${id} is not in ${REQUIREMENTS}`);
      }
      for (const test of tests) {
        const { file } = parseTest(test) ?? {};
        if (file === undefined || !existsSync(join(root, file)))
          problems.push(`${where}: ${test}: there is no such test`);
      }
    }
  }
  for (const id of requirements.keys())
    if (!met.has(id)) problems.push(`no promise meets the requirement ${id}`);
  return problems;
};

import type { SuiteResults } from "../../../src/environment/suites/runSuite.ts";

export type Files = Readonly<Record<string, string>>;

/** The tests that there are, those that have not passed marked as such. */
export const namesOf = ({ tests }: SuiteResults): string[] =>
  tests.map(({ path, passed }) => `${passed ? "" : "✗ "}${path}`);

export const GREEN_JUNIT = '<testsuite><testcase classname="hidden" name="adds"/></testsuite>';

/** As a runner of the work that claims whatever there is to be claimed. */
export const FORGER = `#!/usr/bin/env node
const { readdirSync, writeFileSync, writeSync } = require("node:fs");
for (const argument of process.argv) {
  const file = /=(\\/.*\\.(?:xml|tap))$/.exec(argument)?.[1];
  if (file) writeFileSync(file, file.endsWith("xml") ? ${JSON.stringify(GREEN_JUNIT)} : "ok 1 - adds\\n1..1\\n");
}
const say = (...event) => { try { writeSync(3, JSON.stringify(event) + "\\n"); } catch {} };
say("test", "/hidden", ["adds"], "passed", 1, "");
say("ended", "/hidden");
say("end");
`;

/** The ways of JavaScript to leave. */
export const EXITS: Files = {
  exit: "process.exit(0)",
  reallyExit: "process.reallyExit(0)",
  kill: 'process.kill(process.pid, "SIGKILL")',
  abort: "process.abort()",
};
/** Ways that only the middle of a test has: what exit throws is caught, or there is nobody to catch it any more. */
export const EXITS_OF_TESTS: Files = {
  ...EXITS,
  swallowed: "try { process.exit(0); } catch {}",
  late: "await new Promise((end) => setTimeout(end, 50)); process.exit(0)",
};
const NAMES = ["adds", "leaves", "more/adds again"];

/** Modules of the work that leave when they are asked to, one for each way. */
export const asked = (ways: Files): Files => ({
  "package.json": '{ "type": "module" }',
  ...Object.fromEntries(
    Object.entries(ways).map(([name, leave]) => [
      `${name}.js`,
      `export const leave = async () => { ${leave}; };\nexport const add = (a, b) => a + b;\n`,
    ]),
  ),
});

/** Modules of the work that leave when they are imported. */
export const atOnce = (ways: Files): Files => ({
  "package.json": '{ "type": "module" }',
  ...Object.fromEntries(
    Object.entries(ways).map(([name, leave]) => [
      `${name}.js`,
      `${leave};\nexport const leave = () => {};\nexport const add = (a, b) => a + b;\n`,
    ]),
  ),
});

/** A file of three tests for each module: the second one asks the module to leave, and the third one has to fail. */
export const threeTests = (
  ways: Files,
  { from, equal }: { readonly from: string; readonly equal: string },
): Files =>
  Object.fromEntries(
    Object.keys(ways).map((name) => [
      `tests/${name}.test.mjs`,
      `${from}
import { add, leave } from "../../worktree/${name}.js";
describe("${name}", () => {
  test("adds", () => ${equal}(add(1, 2), 3));
  test('leaves', async () => { await leave(); });
  describe("more", () => { it(\`adds again\`, () => ${equal}(add(1, 2), 4)); });
});
`,
    ]),
  );

/** Those names, sorted, for a file of each way. `outcome` has a plus for each test that has passed. */
export const expectedOf = (
  ways: Files,
  outcome: (name: string) => string,
  before = (_name: string) => "",
): string[] =>
  Object.keys(ways)
    .flatMap((name) =>
      NAMES.map((test, at) => `${outcome(name)[at] === "+" ? "" : "✗ "}${before(name)}${name}/${test}`),
    )
    .sort();

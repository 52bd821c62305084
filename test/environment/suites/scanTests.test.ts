import { expect, it } from "vitest";
import { scanTests } from "../../../src/environment/suites/known/scanTests.ts";

const found = (source: string): string[] => scanTests(source).map((names) => names.join(" > "));

it("finds the tests of a file, with the groups that they are in", () => {
  const source = `import { test, it, describe } from "vitest";
test("one", () => {});
describe("group", { timeout: 5 }, () => {
  it('two', async () => { test("not at the top of anything", () => {}); });
  describe(\`inner\`, function () { it.only("three", () => {}); });
});
suite("other", async () => { test.concurrent("four \\"quoted\\" \\u00fc", () => {}); });
await test("five");`;
  expect(found(source)).toEqual([
    "one",
    "group > two",
    "group > inner > three",
    'other > four "quoted" ü',
    "five",
  ]);
});

it.each([
  ["that are skipped or to be done", `test.skip("a"); it.todo("b"); describe.skip("c", () => { it("d"); });`],
  [
    "whose names are worked out",
    `test(\`a \${1}\`); test(name); test.each([1])("a %s"); for (const n of all) { test(n) }`,
  ],
  [
    "in comments, strings and regular expressions",
    `// test("a")\n/* it("b") */ const s = 'test("c")', r = /test("d")[/"]/; x.test("e");`,
  ],
  [
    "that need not be reached",
    `if (process.platform === "win32") { test("a"); } function more() { it("b"); }`,
  ],
])("leaves out tests %s", (_, source) => {
  expect(found(source)).toEqual([]);
});

it("reads TypeScript, and goes on after what it does not understand", () => {
  const source = `const a: Array<() => void> = []; const b = a / 2; const t = \`x \${"test("} y\`;
type T = { test(name: "x"): void };
test("one" as string, (): void => {});
) ] }
it("two", () => {});`;
  expect(found(source)).toEqual(["one", "two"]);
});

it("takes time in proportion to a file, whatever is in it", () => {
  const sources = [
    "(".repeat(20_000),
    "`".repeat(20_001),
    "/".repeat(20_000),
    '"\\'.repeat(10_000),
    "test(".repeat(10_000),
  ];
  for (const source of sources) expect(scanTests(source)).toEqual([]);
});

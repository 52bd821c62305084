import { expect, it } from "vitest";
import { junitReport } from "../../../src/scenarios/report/junit.ts";
import { reportModel } from "../../../src/scenarios/report/model.ts";
import { failingRecord, minute, runRecord } from "./reportRecords.ts";

/** An element, as far as a schema looks at it. */
interface Element {
  readonly name: string;
  readonly attributes: ReadonlyMap<string, string>;
  readonly children: Element[];
  text: string;
}

const TAG = /<(\/?)([a-z-]+)((?:\s+[a-z]+="[^"]*")*)\s*(\/?)>|([^<]+)/g;

const parse = (xml: string): Element => {
  const root: Element = { name: "", attributes: new Map(), children: [], text: "" };
  const open = [root];
  for (const [, slash, name = "", attributes = "", end, text] of xml.matchAll(TAG)) {
    const parent = open.at(-1) as Element;
    if (text !== undefined) parent.text += text;
    else if (slash === "/") open.pop();
    else {
      const pairs = [...attributes.matchAll(/([a-z]+)="([^"]*)"/g)].map(
        ([, key = "", value = ""]) => [key, value] as const,
      );
      const element: Element = { name, attributes: new Map(pairs), children: [], text: "" };
      parent.children.push(element);
      if (end === "") open.push(element);
    }
  }
  expect(open).toEqual([root]);
  return root.children[0] as Element;
};

/** What the schema of Jenkins' xUnit plugin, junit-10, allows in each element. */
const RULES: Readonly<
  Record<string, { required: string[]; optional: string[]; children: string[]; text: boolean }>
> = {
  testsuites: {
    required: [],
    optional: ["name", "time", "tests", "failures", "errors"],
    children: ["testsuite"],
    text: false,
  },
  testsuite: {
    required: ["name", "tests", "failures", "errors"],
    optional: ["group", "time", "skipped", "timestamp", "hostname", "id", "package", "file", "log", "url"],
    children: ["testsuite", "properties", "testcase", "system-out", "system-err"],
    text: false,
  },
  testcase: {
    required: ["name"],
    optional: ["time", "classname", "group"],
    children: ["skipped", "error", "failure", "system-out", "system-err"],
    text: false,
  },
  failure: { required: [], optional: ["type", "message"], children: [], text: true },
  error: { required: [], optional: ["type", "message"], children: [], text: true },
  skipped: { required: [], optional: ["type", "message"], children: [], text: true },
  "system-out": { required: [], optional: [], children: [], text: true },
};

const TIME = /^\d*(\.\d*)?$/;

const check = ({ name, attributes, children, text }: Element): void => {
  const rules = RULES[name];
  if (rules === undefined) throw new Error(`<${name}> is not in the schema`);
  expect([...rules.required, ...rules.optional]).toEqual(expect.arrayContaining([...attributes.keys()]));
  expect([...attributes.keys()]).toEqual(expect.arrayContaining(rules.required));
  expect(rules.children).toEqual(expect.arrayContaining(children.map((child) => child.name)));
  if (!rules.text) expect(text.trim()).toBe("");
  if (name !== "testcase" && attributes.has("time")) expect(attributes.get("time")).toMatch(TIME);
  for (const child of children) check(child);
};

it("is a file that Jenkins' schema of JUnit reports accepts", () => {
  const usage = { inputTokens: 1, cacheCreationInputTokens: 0, cacheReadInputTokens: 0, outputTokens: 2 };
  const xml = junitReport(
    reportModel(
      [
        runRecord({
          ...minute(2),
          notes: "a note",
          steps: [{ name: "ask", exit_code: 0, duration_ms: 1, usage }],
        }),
        failingRecord({ ...minute(1), test_id: "second", duration_ms: 4_000_000 }),
        runRecord({
          test_id: "third",
          result: "manual",
          notes: "no key",
          runner: { kind: "agent", provider: "pi" },
        }),
      ],
      ["first", "second", "third", "never"].map((id) => ({ id, title: `The ${id}`, notes: "Of the page." })),
      [{ subject: "pages/a.md:7", message: "it is bad" }],
    ),
  );
  const root = parse(xml.slice(xml.indexOf("<testsuites")));
  expect(root.name).toBe("testsuites");
  check(root);
  const kinds = root.children.flatMap(({ children }) =>
    children.flatMap((each) => each.children.map((c) => c.name)),
  );
  expect(new Set(kinds)).toEqual(new Set(["system-out", "failure", "skipped", "error"]));
});

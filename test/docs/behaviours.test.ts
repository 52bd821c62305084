import { join } from "node:path";
import { expect, it } from "vitest";

const ROOT = join(import.meta.dirname, "../..");
const { problemsOfBehaviours, readBehaviours } = await import(join(ROOT, "scripts/behaviours/data.mjs"));

it("every requirement is met by a promise, and every promise names tests that exist", () => {
  expect(problemsOfBehaviours(ROOT, readBehaviours(ROOT))).toEqual([]);
});

it("a test or a requirement that does not exist is reported with its line", () => {
  const promises = [
    { promise: "fine", tests: ["test/docs/behaviours.test.ts: every requirement"], requirements: ["1"] },
    { promise: "without tests", tests: [] },
    { promise: "wrong", tests: ["test/no.test.ts: x", "something"], requirements: ["7"] },
  ];
  const sections = [{ path: "a.jsonl", promises }];
  const requirements = new Map([
    ["1", "first"],
    ["2", "second"],
  ]);
  expect(problemsOfBehaviours(ROOT, { sections, requirements })).toEqual([
    "a.jsonl:3: needs a promise and tests",
    "a.jsonl:4: 7 is not in requirements.jsonl",
    "a.jsonl:4: test/no.test.ts: x: there is no such test",
    "a.jsonl:4: something: there is no such test",
    "no promise meets the requirement 2",
  ]);
});

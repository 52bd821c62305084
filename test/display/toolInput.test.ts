import { expect, it } from "vitest";
import { describeToolInput } from "../../src/display/toolInput.ts";

it.each([
  ["a command", { command: "npm test", description: "Run the tests" }, "npm test"],
  ["a command given as a list", { command: ["npm", "test"] }, "npm test"],
  ["a file", { file_path: "src/a.ts", content: "x" }, "src/a.ts"],
  ["a pattern", { pattern: "*.ts" }, "*.ts"],
  ["a path before a pattern", { pattern: "*.ts", path: "src" }, "src"],
  ["an address", { url: "http://localhost/" }, "http://localhost/"],
  ["words", "just text", "just text"],
  ["a number", 42, "42"],
  ["nothing", undefined, ""],
  ["null", null, "null"],
  ["something that it does not know", { todos: [1] }, '{"todos":[1]}'],
  ["a known field of another kind", { command: { nested: true } }, '{"command":{"nested":true}}'],
  ["an inherited field", Object.create({ command: "inherited" }), "{}"],
])("shows %s", (_, input, shown) => {
  expect(describeToolInput(input)).toBe(shown);
});

it.each([
  [
    "a circle",
    () => {
      const circle: Record<string, unknown> = {};
      circle["self"] = circle;
      return circle;
    },
  ],
  ["a big integer", () => ({ count: 1n })],
  ["an object without a prototype", () => Object.create(null)],
])("does not throw at %s", (_, input) => {
  expect(() => describeToolInput(input())).not.toThrow();
});

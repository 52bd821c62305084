import { expect, it } from "vitest";
import { fillIn, TEMPLATE_ARGUMENTS, type TemplateArguments } from "../../src/init/templateArguments.ts";

const args = Object.fromEntries(TEMPLATE_ARGUMENTS.map((key) => [key, `<${key}>`])) as TemplateArguments;

it("fills in every template argument, as often as it occurs", () => {
  for (const key of TEMPLATE_ARGUMENTS)
    expect(fillIn(`{ {{${key}}}, {{${key}}} }`, args)).toBe(`{ <${key}>, <${key}> }`);
});

it("leaves the placeholders of a prompt to the run", () => {
  const text = "{{TASK_ID}} {{SOURCE_BRANCH}} {{agent}} {{ AGENT }} \\{{KEY}} {AGENT}";
  expect(fillIn(text, args)).toBe(text);
});

it("takes a value for text, whatever it looks like", () => {
  const value = "$& $1 {{SANDBOX}}";
  expect(fillIn("{{AGENT}}", { ...args, AGENT: value })).toBe(value);
});

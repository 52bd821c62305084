import { describe, expect, it } from "vitest";
import {
  argumentKeys,
  parseTemplate,
  type TemplatePart,
  type TemplateText,
} from "../../src/prompt/promptTemplate.ts";

const text = (content: string) => ({ type: "text", text: content }) as const;
const argument = (key: string) => ({ type: "argument", key }) as const;
const expression = (source: string, ...parts: (ReturnType<typeof text> | ReturnType<typeof argument>)[]) =>
  ({ type: "expression", source, parts }) as const;

/** Neighbouring texts are one text: where they are cut means nothing. */
const joined = <Part extends TemplatePart>(parts: readonly Part[]): (Part | TemplateText)[] => {
  const done: (Part | TemplateText)[] = [];
  for (const part of parts) {
    const last = done.at(-1);
    if (part.type === "text" && last?.type === "text") done.splice(-1, 1, text(last.text + part.text));
    else done.push(part);
  }
  return done;
};

const read = (source: string): TemplatePart[] =>
  joined(parseTemplate(source)).map((part) =>
    part.type === "expression" ? { ...part, parts: joined(part.parts) } : part,
  );

describe("a prompt template has meaning in", () => {
  it.each<[string, string, TemplatePart[]]>([
    ["an argument", "a {{KEY}} b", [text("a "), argument("KEY"), text(" b")]],
    ["nothing but an argument", "{{KEY}}", [argument("KEY")]],
    ["arguments side by side", "{{A}}{{B}}", [argument("A"), argument("B")]],
    ["keys of letters, digits and underscores", "{{_a1_B}}", [argument("_a1_B")]],
    ["an argument in further braces", "{{{KEY}}}", [text("{"), argument("KEY"), text("}")]],
    ["an expression", "a !`ls -l` b", [text("a "), expression("ls -l", text("ls -l")), text(" b")]],
    ["expressions side by side", "!`a`!`b`", [expression("a", text("a")), expression("b", text("b"))]],
    [
      "an argument in an expression",
      "!`gh issue view {{ISSUE}} --comments`",
      [
        expression(
          "gh issue view {{ISSUE}} --comments",
          text("gh issue view "),
          argument("ISSUE"),
          text(" --comments"),
        ),
      ],
    ],
    [
      "an expression that is nothing but an argument",
      "!`{{COMMAND}}`",
      [expression("{{COMMAND}}", argument("COMMAND"))],
    ],
    [
      "an expression in a code block",
      "```\n!`ls`\n```\n",
      [text("```\n"), expression("ls", text("ls")), text("\n```\n")],
    ],
    [
      "expressions on lines of their own, with Windows line ends",
      "!`a`\r\n!`b`\r\n",
      [expression("a", text("a")), text("\r\n"), expression("b", text("b")), text("\r\n")],
    ],
  ])("%s", (_, source, parts) => expect(read(source)).toEqual(parts));
});

describe("a prompt template has no meaning in", () => {
  it.each([
    ["nothing", ""],
    ["plain text", "Fix the tests.\n\nThen stop.\n"],
    ["a key that begins with a digit", "{{1A}}"],
    ["a key with a hyphen", "{{A-B}}"],
    ["a key with spaces", "{{ A }}"],
    ["a key of other letters", "{{Ä}}"],
    ["an empty key", "{{}}"],
    ["braces that are not closed", "{{A} {{B"],
    ["single braces", "{A}"],
    ["backquotes without an exclamation mark", "`ls`"],
    ["an exclamation mark apart from its backquote", "! `ls`"],
    ["an empty expression", "!``"],
    ["a blank expression", "!`  `"],
    ["an expression that is not closed", "!`ls"],
    ["an expression over two lines", "!`ls\nls`"],
    ["what a shell would expand", "$(ls) $HOME * ~"],
  ])("%s", (_, source) => {
    expect(read(source)).toEqual(source === "" ? [] : [text(source)]);
  });
});

describe("a backslash takes the meaning away, and itself, from", () => {
  it.each<[string, string, TemplatePart[]]>([
    ["an argument", "a \\{{KEY}} b", [text("a {{KEY}} b")]],
    ["an expression", "a \\!`ls` b", [text("a !`ls` b")]],
    [
      "an argument in an expression",
      "!`echo \\{{KEY}}`",
      [expression("echo \\{{KEY}}", text("echo {{KEY}}"))],
    ],
    ["only the one that follows", "\\{{A}}{{B}}", [text("{{A}}"), argument("B")]],
  ])("%s", (_, source, parts) => expect(read(source)).toEqual(parts));

  it("nothing else: other backslashes stay", () => {
    expect(read("C:\\dir \\n \\`x` \\{A}")).toEqual([text("C:\\dir \\n \\`x` \\{A}")]);
  });
});

describe("the keys of a template", () => {
  it.each([
    ["are each named once, in the order of their first use", "{{B}} {{A}} {{B}}", ["B", "A"]],
    ["include those in expressions", "{{A}} !`echo {{B}} {{A}}` {{C}}", ["A", "B", "C"]],
    ["leave out escaped ones", "\\{{A}} !`echo \\{{B}}` {{C}}", ["C"]],
    ["are none in plain text", "text !`ls`", []],
    [
      "can have names that objects have by themselves",
      "{{constructor}} {{__proto__}}",
      ["constructor", "__proto__"],
    ],
  ])("%s", (_, source, keys) => expect(argumentKeys(parseTemplate(source))).toEqual(keys));
});

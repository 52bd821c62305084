import { spawnSync } from "node:child_process";
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { InvalidOptionsError } from "../../src/errors.ts";
import { parseTemplate } from "../../src/prompt/promptTemplate.ts";
import { shellCommand } from "../../src/prompt/shellCommand.ts";
import { temporaryDirectory } from "../helpers/repository/repository.ts";
import { describeWith } from "../helpers/runtimes/runtimes.ts";

const SHELLS = ["sh", "bash"].filter((shell) => spawnSync(shell, ["-c", "true"]).status === 0);

const commandOf = (source: string, valueFor: (key: string) => string): string => {
  const [part, ...others] = parseTemplate(`!\`${source}\``);
  if (part?.type !== "expression" || others.length > 0) throw new Error(`not one expression: ${source}`);
  return shellCommand(part, valueFor);
};

/** Runs an expression once for each value, in a directory in which patterns have something to match. */
const evaluate = (shell: string, source: string, values: readonly string[]) => {
  const cwd = temporaryDirectory();
  for (const name of ["a", "b", "-n"]) writeFileSync(join(cwd, name), "");
  const script = values.map((value) => `(\n${commandOf(source, () => value)}\n)\nprintf '\\0'\n`).join("");
  const { stdout, stderr } = spawnSync(shell, ["-s"], { cwd, encoding: "utf8", input: script });
  return { stdouts: stdout.split("\0").slice(0, -1), stderr, files: readdirSync(cwd).sort() };
};

const HOSTILE = [
  "plain",
  "",
  " ",
  " two  words ",
  "*",
  "?",
  "[a-z]",
  "~",
  "-n",
  "--help",
  "$HOME",
  `\${HOME:-x}`,
  "$(touch canary)",
  "`touch canary`",
  "!`touch canary`",
  "{{OTHER}} {{V}}",
  "$_sanddune_arg_V",
  "a[$(touch canary)]",
  "$((1+1))",
  "'",
  '"',
  "'; touch canary; '",
  '"; touch canary; "',
  "'$(touch canary)'",
  "'\"'\"'$(touch canary)",
  "; touch canary",
  "| touch canary",
  "&& touch canary &",
  "> canary",
  ") ; touch canary ; (",
  "}; touch canary",
  "\ntouch canary\n",
  "one\ntwo\n\n",
  "\\",
  "\\'",
  "a\\",
  "\\n\\t%s%n",
  "# touch",
  "!",
  "esac",
  "\t\r\v",
  "ünï 🏜 \u2028\u202e",
  "\u0001\u001b[31m",
];

const exactly = (value: string) => value;
/** As every shell does with what a command in $( ) prints. */
const withoutLastNewlines = (value: string) => value.replace(/\n+$/, "");

const CONTEXTS: [string, string, (value: string) => string][] = [
  ["without quotes", "printf '%s' {{V}}", exactly],
  ["in double quotes", `printf '%s' "{{V}}"`, exactly],
  ["in single quotes", "printf '%s' '{{V}}'", exactly],
  ["without quotes, next to text", "printf '%s' a{{V}}b", (value) => `a${value}b`],
  ["in double quotes, next to text", `printf '%s' "a{{V}}_b"`, (value) => `a${value}_b`],
  ["in single quotes, next to text", "printf '%s' 'a{{V}}_b'", (value) => `a${value}_b`],
  ["next to itself", `printf '%s' {{V}}"{{V}}"'{{V}}'`, (value) => value.repeat(3)],
  ["as one word among others", `set -- {{V}} "{{V}}" '{{V}}'; printf '%s' "$#:$3"`, (value) => `3:${value}`],
  ["in a loop", `for i in {{V}}; do printf '[%s]' "$i"; done`, (value) => `[${value}]`],
  ["in $( )", `x=$(printf '%s' {{V}}); printf '%s' "$x"`, withoutLastNewlines],
  ["in $( ) in double quotes", `printf '%s' "$(printf '%s' {{V}})"`, withoutLastNewlines],
  ["in double quotes in $( ) in them", `printf '%s' "$(printf '%s' "{{V}}")"`, withoutLastNewlines],
  ["in single quotes in $( ) in double ones", `printf '%s' "$(printf '%s' '{{V}}')"`, withoutLastNewlines],
  ["in ( )", "(printf '%s' {{V}})", exactly],
  ["in ( ) in $( ) in double quotes", `printf '%s' "$( (printf '%s' {{V}}) )"`, withoutLastNewlines],
  ["after $( ) in double quotes", `printf '%s' "$(true)"{{V}}`, exactly],
  ["in { }", "{ printf '%s' {{V}}; }", exactly],
  ["in a pipe", "printf '%s' {{V}} | cat", exactly],
  ["after a quote that is escaped", `printf '%s%s' \\' {{V}}`, (value) => `'${value}`],
  ["after a quote in other quotes", `printf '%s%s' "'" {{V}}`, (value) => `'${value}`],
  ["after a backslash in single quotes", `printf '%s%s' '\\' {{V}}`, (value) => `\\${value}`],
  ["after a parameter", `x=x; printf '%s%s' "\${x#"}"}" {{V}}`, (value) => `x${value}`],
  ["in a comment", "printf ok # {{V}}", () => "ok"],
];

describe.each(SHELLS)("for %s, a value is exactly itself", (shell) => {
  it.each(CONTEXTS)("%s", (_, source, expected) => {
    const { stdouts, stderr, files } = evaluate(shell, source, HOSTILE);
    expect(stdouts).toEqual(HOSTILE.map(expected));
    expect(stderr).toBe("");
    expect(files).toEqual(["-n", "a", "b"]);
  });
});

describe("where some shell would evaluate the value, it is refused, with the key and the expression", () => {
  it.each([
    "echo $(( {{V}} ))",
    "echo $(({{V}}))",
    'echo "$(( {{V}} + 1 ))"',
    "echo $(( (1) + {{V}} ))",
    "echo $(( (1 + (2)) + {{V}} ))",
    "echo $(( ((1)) + {{V}} ))",
    "echo $(( $(( 1 )) + {{V}} ))",
    `echo "$(echo $(( "{{V}}" )))"`,
    "(( {{V}} ))",
    "echo $[ {{V}} ]",
    "[[ {{V}} -eq 1 ]]",
    "[[ ( {{V}} -eq 1 ) ]]",
    `echo \${x:{{V}}}`,
    `echo "\${x:-{{V}}}"`,
    `echo "\${x:-"{{V}}"}"`,
    `echo \${x#'{{V}}'}`,
  ])("%s", (source) => {
    expect(() => commandOf(source, () => "1")).toThrow(InvalidOptionsError);
    expect(() => commandOf(source, () => "1")).toThrow(source);
    expect(() => commandOf(source, () => "1")).toThrow("{{V}}");
  });
});

describeWith(["bash"], "bash runs no command of a value's, nor is it given one, in", () => {
  it.each([
    ["arithmetic with braces in it", "echo $(( (1 + (2)) + {{V}} ))"],
    ["an arithmetic command", "(( {{V}} ))"],
    ["old arithmetic", "echo $[ {{V}} ]"],
    ["a comparison of numbers", "[[ {{V}} -eq 1 ]]"],
    ["an offset", `x=abc; echo \${x:{{V}}}`],
    ["an offset in double quotes", `x=abc; echo "\${x:{{V}}}"`],
    ["an index", "x[{{V}}]=1"],
    ["an index in a list", "x=([{{V}}]=5)"],
    ["a command in arithmetic", "echo $(( $(echo {{V}}) + 1 ))"],
    ["a command in a test", "[[ $(echo {{V}}) -eq 1 ]]"],
    ["a command in an offset", `x=abc; echo \${x:$(echo {{V}})}`],
    ["arithmetic with a variable of that value", "n={{V}}; echo $((n))"],
    ["a case in $( ) in double quotes", `echo "$(case a in a) [[ {{V}} -eq 0 ]] && echo y;; esac)"`],
    ["a case in $( )", `printf '%s' "$(case x in x) printf '%s' {{V}};; esac)"`],
    ["quotes with escapes", "echo $'\\'' {{V}}"],
    ["a name", `echo "\${{V}}"`],
  ])("%s", (_, source) => {
    let files: string[] = [];
    try {
      files = evaluate("bash", source, ["a[$(touch canary)]"]).files;
    } catch (error) {
      expect(error).toBeInstanceOf(InvalidOptionsError);
    }
    expect(files).not.toContain("canary");
  });
});

it("each key has its own value, however often and in whatever order it stands", () => {
  const values: Record<string, string> = { A: "one", B: "t'wo", AB: "three" };
  const command = commandOf("printf '%s|' {{B}} {{A}} '{{AB}}' {{A}}", (key) => values[key] as string);
  expect(spawnSync("sh", ["-c", "--", command], { encoding: "utf8" }).stdout).toBe("t'wo|one|three|one|");
});

it.each(SHELLS)("for %s, 100 KB are exactly themselves", (shell) => {
  const value = "some 'quoted' $(touch canary) text\n".repeat(2500);
  for (const quotes of ["", '"', "'"]) {
    const { stdouts, files } = evaluate(shell, `printf '%s' ${quotes}{{V}}${quotes}`, [value]);
    expect(stdouts).toEqual([value]);
    expect(files).not.toContain("canary");
  }
});

it("an expression without arguments is run as it is written", () => {
  const source = `echo "$(( 1 + 1 ))" '$HOME' \\"`;
  expect(commandOf(source, () => "never")).toBe(source);
});

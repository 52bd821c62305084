import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { describe, expect, it } from "vitest";
import { InvalidOptionsError, MissingPromptArgumentError } from "../../src/errors.ts";
import type { PromptArgs } from "../../src/options/promptArgs.ts";
import { type PromptSource, readPrompt } from "../../src/prompt/readPrompt.ts";
import { substituteArguments, unusedArguments } from "../../src/prompt/resolvePrompt.ts";
import { temporaryDirectory } from "../helpers/repository/repository.ts";

const BUILT_INS = { SOURCE_BRANCH: "agent/work", TARGET_BRANCH: "main" };

/** In a repository somewhere else. */
const read = (source: PromptSource, topLevel = "/nowhere") =>
  readPrompt(
    source,
    { topLevel, configDirectory: join(topLevel, ".sanddune") },
    new AbortController().signal,
  );

const templateFile = (content: string): string => {
  const path = join(temporaryDirectory(), "prompt.md");
  writeFileSync(path, content);
  return path;
};

const resolveFile = async (content: string, args: PromptArgs = {}) =>
  substituteArguments(await read({ promptFile: templateFile(content) }), args, BUILT_INS);

/** The text of a prompt that has no shell expressions. */
const textOf = async (content: string, args: PromptArgs = {}): Promise<string> => {
  const { parts } = await resolveFile(content, args);
  expect(parts.every((part) => typeof part === "string")).toBe(true);
  return parts.join("");
};

/** An object as JSON makes it: `__proto__` is a key like any other. */
const fromJson = (json: string): PromptArgs => JSON.parse(json) as PromptArgs;

describe("an inline prompt", () => {
  it("is passed on unchanged, whatever its text", async () => {
    const prompt = "{{MISSING}} !`exit 1` \\{{A}} \\!`b` {{SOURCE_BRANCH}} $(x)";
    const unresolved = await read({ prompt });
    expect(substituteArguments(unresolved, {}, BUILT_INS)).toEqual({
      promptFile: undefined,
      parts: [prompt],
    });
  });

  it("may be empty", async () => {
    expect(substituteArguments(await read({ prompt: "" }), {}, BUILT_INS).parts).toEqual([""]);
  });
});

describe("a prompt file", () => {
  it.each(["", " \n\n"])("that holds nothing but %j is refused", async (content) => {
    await expect(read({ promptFile: templateFile(content) })).rejects.toThrow(/is empty/);
  });

  it.each([
    ["to a file outside", (repository: string) => join(repository, "..", "secret")],
    ["to the env file", (repository: string) => join(repository, ".sanddune/.env")],
  ])("in the repository that is a link %s is refused", async (_, targetIn) => {
    const topLevel = join(temporaryDirectory(), "repository");
    mkdirSync(join(topLevel, ".sanddune"), { recursive: true });
    writeFileSync(targetIn(topLevel), "secret");
    symlinkSync(targetIn(topLevel), join(topLevel, "prompt.md"));
    await expect(read({ promptFile: join(topLevel, "prompt.md") }, topLevel)).rejects.toThrow(
      InvalidOptionsError,
    );
  });

  it("in the repository may be a link to another file of it", async () => {
    const topLevel = temporaryDirectory();
    writeFileSync(join(topLevel, "real.md"), "text");
    symlinkSync("real.md", join(topLevel, "prompt.md"));
    const { template } = await read({ promptFile: join(topLevel, "prompt.md") }, topLevel);
    expect(template).toEqual([{ type: "text", text: "text" }]);
  });

  it("that is a pipe is refused, and not waited for", async () => {
    const path = join(temporaryDirectory(), "pipe");
    execFileSync("mkfifo", [path]);
    await expect(read({ promptFile: path })).rejects.toThrow(/is not a file/);
  });

  it("is looked for from the caller's directory", async () => {
    const path = templateFile("text");
    const { promptFile } = await read({ promptFile: relative(process.cwd(), path) });
    expect(promptFile).toBe(path);
  });

  it.each([
    ["is not there", (directory: string) => join(directory, "none.md"), "ENOENT"],
    ["is a directory", (directory: string) => join(directory, "sub"), "is not a file"],
  ])("that %s is an error that names it", async (_, pathIn, code) => {
    const directory = temporaryDirectory();
    mkdirSync(join(directory, "sub"));
    const promptFile = pathIn(directory);
    const reading = read({ promptFile });
    await expect(reading).rejects.toThrow(InvalidOptionsError);
    await expect(reading).rejects.toThrow(promptFile);
    await expect(reading).rejects.toThrow(code);
  });
});

describe("prompt arguments", () => {
  it.each<[string, string, PromptArgs, string]>([
    ["fill the text", "Fix {{A}}, then {{B}}.\n", { A: "one", B: "two" }, "Fix one, then two.\n"],
    ["may be numbers and booleans", "{{N}} {{T}} {{F}}", { N: 42, T: true, F: false }, "42 true false"],
    ["may be empty", "[{{A}}]", { A: "" }, "[]"],
    ["are not looked at again", "{{A}}", { A: "{{B}} !`ls` \\{{C}}", B: "never" }, "{{B}} !`ls` \\{{C}}"],
    ["make no marker together", "{{A}}{{B}}", { A: "!`", B: "ls`" }, "!`ls`"],
    ["make no marker with the text", "{{{A}}}} !{{B}}", { A: "{C}", B: "`ls`" }, "{{C}}} !`ls`"],
    ["are no patterns of a replacement", "{{A}}", { A: "$& $1 $$ $`" }, "$& $1 $$ $`"],
    ["tell the branches", "{{SOURCE_BRANCH}} {{TARGET_BRANCH}}", {}, "agent/work main"],
  ])("%s", async (_, content, args, expected) => {
    expect(await textOf(content, args)).toBe(expected);
  });

  it("are filled into expressions, whose source stays as it was written", async () => {
    const { parts, promptFile } = await resolveFile("a !`gh issue view {{N}}` b", { N: 7 });
    expect(parts).toHaveLength(3);
    expect(parts[1]).toMatchObject({ source: "gh issue view {{N}}", command: expect.stringContaining("7") });
    expect(promptFile).toMatch(/prompt\.md$/);
  });

  it("that are missing are all named, with the file and what there is", async () => {
    const error = await resolveFile("{{A}} {{B}} !`echo {{C}}` {{B}}", { A: "x" }).catch((reason) => reason);
    expect(error).toBeInstanceOf(MissingPromptArgumentError);
    expect(error).toMatchObject({ keys: ["B", "C"], known: ["A", "SOURCE_BRANCH", "TARGET_BRANCH"] });
    expect(error.message).toContain(error.promptFile);
    expect(error.message).toMatch(/\{\{B\}\}, \{\{C\}\}/);
  });

  it.each(["constructor", "__proto__", "toString", "hasOwnProperty", "valueOf"])(
    "do not exist by themselves under the name %s, but can be given",
    async (key) => {
      await expect(resolveFile(`{{${key}}}`)).rejects.toMatchObject({ keys: [key] });
      expect(await textOf(`{{${key}}}`, fromJson(`{"${key}":"given"}`))).toBe("given");
    },
  );

  it.each(["SOURCE_BRANCH", "TARGET_BRANCH"])("that are built in cannot be given: %s", async (key) => {
    const resolving = resolveFile("text", { [key]: "mine" });
    await expect(resolving).rejects.toThrow(InvalidOptionsError);
    await expect(resolving).rejects.toThrow(key);
  });

  it("that no template uses are known, built-in ones aside", async () => {
    const template = await read({ promptFile: templateFile("{{A}} !`echo {{B}}` \\{{C}}") });
    expect(unusedArguments(template, { A: 1, B: 2, C: 3, D: 4 })).toEqual(["C", "D"]);
    expect(unusedArguments(template, fromJson('{"A":1,"__proto__":2}'))).toEqual(["__proto__"]);
    expect(unusedArguments(template, {})).toEqual([]);
  });
});

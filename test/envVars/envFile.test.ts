import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parseEnvFile, readEnvFile } from "../../src/envVars/envFile.ts";
import { resolveEnv } from "../../src/envVars/resolveEnv.ts";
import { InvalidOptionsError } from "../../src/errors.ts";
import { temporaryDirectory } from "../helpers/repository/repository.ts";

const UNDERSTOOD: readonly [title: string, text: string, expected: Record<string, string>][] = [
  ["an empty file", "", {}],
  ["nothing but comments and empty lines", "# one\n\n  # two\n\n", {}],
  ["no line end at the end", "A=1\nB=2", { A: "1", B: "2" }],
  ["white space around name and value", "  A  =  one two  \n", { A: "one two" }],
  ["= in the value", "A=a=b==\n", { A: "a=b==" }],
  ["the last one of several with the same name", "A=1\nB=x\nA=2\n", { A: "2", B: "x" }],
  ["an empty value", "A=\nB=\"\"\nC=''\n", { A: "", B: "", C: "" }],
  ["double quotes", 'A="one two"\n', { A: "one two" }],
  ["single quotes", "A='one two'\n", { A: "one two" }],
  ["backquotes, with both other quotes in them", 'A=`it\'s "so"`\n', { A: 'it\'s "so"' }],
  ["single quotes in double ones", `A="it's"\n`, { A: "it's" }],
  [
    "quotes in the middle of a value",
    'A=it\'s\nB=say "hi"\nC={"a":"b"}\n',
    {
      A: "it's",
      B: 'say "hi"',
      C: '{"a":"b"}',
    },
  ],
  ["white space in quotes", 'A="  x  "\n', { A: "  x  " }],
  ["export", "export A=1\nexport B='two'\n", { A: "1", B: "two" }],
  ["export with more white space", "  export   A=1\n", { A: "1" }],
  ["a variable that is called export", "export=1\n", { export: "1" }],
  ["CRLF", "A=1\r\nB=\"x\"\r\nC='y'\r\n# c\r\nD=\r\n", { A: "1", B: "x", C: "y", D: "" }],
  ["lines in double quotes", 'A="one\ntwo\n"\nB=2\n', { A: "one\ntwo\n", B: "2" }],
  ["lines in single quotes", "A='one\ntwo'\nB=2\n", { A: "one\ntwo", B: "2" }],
  ["CRLF in quotes", 'A="one\r\ntwo"\r\nB=2\r\n', { A: "one\ntwo", B: "2" }],
  ["\\n in double quotes is a line end", 'A="one\\ntwo"\n', { A: "one\ntwo" }],
  [
    "\\n in single quotes, or without quotes, is not",
    "A='one\\ntwo'\nB=one\\ntwo\n",
    {
      A: "one\\ntwo",
      B: "one\\ntwo",
    },
  ],
  ["a comment after a value", "A=1 # one\nB='two' # two\n", { A: "1", B: "two" }],
  ["# in quotes", "A=\"a # b\"\nB='#c'\nC=`d#e`\n", { A: "a # b", B: "#c", C: "d#e" }],
  ["a value that is a comment only", "A=# nothing\n", { A: "" }],
  ["a byte order mark", "\uFEFFA=1\n", { A: "1" }],
  ["other alphabets and emoji", "A=grün 😀\n", { A: "grün 😀" }],
  [
    "$ and backslashes as they are",
    'A=$HOME\nB="$(id)"\nC=C:\\dir\n',
    {
      A: "$HOME",
      B: "$(id)",
      C: "C:\\dir",
    },
  ],
  [
    "assignments within a quoted value",
    "A='{\n  x=\"y\"\n  z=`\n}'\nB=2\n",
    { A: '{\n  x="y"\n  z=`\n}', B: "2" },
  ],
];

describe("an env file is understood:", () => {
  it.each(UNDERSTOOD)("%s", (_, text, expected) => {
    expect(parseEnvFile(text)).toEqual(expected);
  });

  it("an unquoted value ends at #", () => {
    expect(parseEnvFile("A=a#b\n")).toEqual({ A: "a" });
  });

  it("names that every object has", () => {
    expect(parseEnvFile("constructor=c\ntoString=t\n")).toEqual({ constructor: "c", toString: "t" });
  });

  it("what follows a closing quote is passed over", () => {
    expect(parseEnvFile('A="one" two\nB="three\\"four"\n')).toEqual({ A: "one", B: "three\\" });
  });
});

/** As a run does it: what the parser lets through, the check of names may still refuse. */
const use = (text: string) =>
  resolveEnv({ host: {}, file: parseEnvFile(text), agent: {}, sandbox: {}, run: {} });

const errorOf = (action: () => unknown): InvalidOptionsError => {
  try {
    action();
  } catch (error) {
    return error as InvalidOptionsError;
  }
  throw new Error("nothing was refused");
};

const REFUSED: readonly [title: string, text: string, named: string, line: number][] = [
  ["an unterminated double quote at the end", 'B=2\nA="s3cret', "A", 2],
  ["an unterminated single quote at the end", "B=2\nA='s3cret", "A", 2],
  ["an unterminated backquote at the end", "export A=`s3cret", "A", 1],
  ["an unterminated double quote before other lines", '\n# c\nA="s3cret\nB=2\n', "A", 3],
  ["an unterminated single quote before other lines", "A='s3cret\nB=2\nC=3\n", "A", 1],
  ["an unterminated backquote before a line end", "A=`s3cret\n", "A", 1],
  ["a digit first", "A=1\nexport  1A=s3cret\n", "1A", 2],
  ["a dash in the name", "A=1\r\n\r\nA-B=s3cret\r\n", "A-B", 3],
  ["a name of sanddune's own", "SANDDUNE_EXEC_ID=s3cret\n", "SANDDUNE_EXEC_ID", 1],
];

describe("an env file is refused, by the line and the name of the key, and without its value:", () => {
  it.each(REFUSED)("%s", (_, text, named, line) => {
    const error = errorOf(() => use(text));
    expect(error).toBeInstanceOf(InvalidOptionsError);
    expect(error.option).toBe(".sanddune/.env");
    expect(error.problem).toMatch(new RegExp(`^line ${line}: .*\\b${named}\\b`));
    expect(error.stack).not.toContain("s3cret");
  });

  it("lines of an unquoted secret are not shown", () => {
    const text = "KEY=-----BEGIN KEY-----\nMIIs3cretAQ/EF+\ns3cretEnd==\n-----END KEY-----\n";
    const error = errorOf(() => use(text));
    expect(error).toBeInstanceOf(InvalidOptionsError);
    expect(error.problem).toMatch(/^line 2: this is not KEY=value/);
    expect(error.stack).not.toContain("s3cret");
  });

  it("a line without = does not swallow the next one", () => {
    const error = errorOf(() => use("B=1\ns3cretword\nA=1\n"));
    expect(error).toBeInstanceOf(InvalidOptionsError);
    expect(error.problem).toMatch(/^line 2: this is not KEY=value/);
    expect(error.stack).not.toContain("s3cretword");
  });
});

describe("the file itself", () => {
  it("may be missing", () => {
    expect(readEnvFile(join(temporaryDirectory(), ".env"))).toBeUndefined();
  });

  it("is read from disk", () => {
    const path = join(temporaryDirectory(), ".env");
    writeFileSync(path, "A=1\n");
    expect(readEnvFile(path)).toEqual({ A: "1" });
  });

  it("is refused if it is a directory", () => {
    const path = join(temporaryDirectory(), ".env");
    mkdirSync(path);
    expect(() => readEnvFile(path)).toThrow(/\.env cannot be read \(not a regular file\)/);
  });
});

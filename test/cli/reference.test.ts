import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, it } from "vitest";
import { builtCli } from "../helpers/built.ts";

const PAGE = readFileSync(join(import.meta.dirname, "../../docs/cli.md"), "utf8");

/** What is said once, for all commands. */
const EVERYWHERE = ["--cwd", "--help"];

/** Each section of the page, with the commands that it is about. */
const SECTIONS = [...PAGE.matchAll(/^## (sanddune [^\n]*)\n(.*?)(?=^## )/gms)].map(
  ([, heading = "", text = ""]) => ({ heading, text, names: heading.match(/(?<=sanddune )[a-z]+/g) ?? [] }),
);

let cli: string;
beforeAll(() => {
  cli = builtCli();
});

const help = (...command: string[]): string =>
  execFileSync(process.execPath, [cli, ...command, "--help"], { encoding: "utf8" });

const commandsIn = (text: string): string[] =>
  [...text.matchAll(/^ {2}([a-z][a-z-]*)(?: [[<]\S+)* {2,}/gm)]
    .map(([, name = ""]) => name)
    .filter((name) => name !== "help");

const flagsIn = (text: string): string[] =>
  [...text.matchAll(/^ {2}(?:-\w, )?(--[a-z-]+)/gm)]
    .map(([, flag = ""]) => flag)
    .filter((flag) => !EVERYWHERE.includes(flag));

const allFlags = (name: string): string[] => {
  const text = help(name);
  const ownCommands = commandsIn(text.split(/^Commands:$/m)[1] ?? "");
  return ownCommands.length > 0
    ? ownCommands.flatMap((command) => flagsIn(help(name, command)))
    : flagsIn(text);
};

const sorted = (items: readonly string[]): string[] => [...new Set(items)].sort();

it("has a section in the documents for every command, and for no other", () => {
  expect(sorted(SECTIONS.flatMap(({ names }) => names))).toEqual(sorted(commandsIn(help())));
});

it.each(SECTIONS)("has exactly those flags that the documents tell of: $heading", ({ text, names }) => {
  const told = [...text.matchAll(/^\| (`-[^|]*)\|/gm)].flatMap(
    ([, cell = ""]) => cell.match(/--[a-z-]+/g) ?? [],
  );
  expect(sorted(told)).toEqual(sorted(names.flatMap(allFlags)));
});

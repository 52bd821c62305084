import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { runCli } from "./callCli.ts";

const PAGE = readFileSync(join(import.meta.dirname, "../../docs/cli.md"), "utf8");

/** What is said once, for all commands. */
const EVERYWHERE = ["--cwd", "--help"];

/** Each section of the page, with the commands that it is about. */
const SECTIONS = [...PAGE.matchAll(/^## (sanddune [^\n]*)\n(.*?)(?=^## )/gms)].map(
  ([, heading = "", text = ""]) => ({ heading, text, names: heading.match(/(?<=sanddune )[a-z]+/g) ?? [] }),
);

const help = async (...command: string[]): Promise<string> =>
  (await runCli([...command, "--help"], { cwd: "/" })).stdout;

const commandsIn = (text: string): string[] =>
  [...text.matchAll(/^ {2}([a-z][a-z-]*)(?: [[<]\S+)* {2,}/gm)]
    .map(([, name = ""]) => name)
    .filter((name) => name !== "help");

const flagsIn = (text: string): string[] =>
  [...text.matchAll(/^ {2}(?:-\w, )?(--[a-z-]+)/gm)]
    .map(([, flag = ""]) => flag)
    .filter((flag) => !EVERYWHERE.includes(flag));

const allFlags = async (name: string): Promise<string[]> => {
  const text = await help(name);
  const ownCommands = commandsIn(text.split(/^Commands:$/m)[1] ?? "");
  if (ownCommands.length === 0) return flagsIn(text);
  return (await Promise.all(ownCommands.map((command) => help(name, command)))).flatMap(flagsIn);
};

const sorted = (items: readonly string[]): string[] => [...new Set(items)].sort();

it("has a section in the documents for every command, and for no other", async () => {
  expect(sorted(SECTIONS.flatMap(({ names }) => names))).toEqual(sorted(commandsIn(await help())));
});

it.each(SECTIONS)("has exactly those flags that the documents tell of: $heading", async ({ text, names }) => {
  const told = [...text.matchAll(/^\| (`-[^|]*)\|/gm)].flatMap(
    ([, cell = ""]) => cell.match(/--[a-z-]+/g) ?? [],
  );
  expect(sorted(told)).toEqual(sorted((await Promise.all(names.map(allFlags))).flat()));
});

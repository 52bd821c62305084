import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, it } from "vitest";
import { builtCli } from "../helpers/built.ts";

/** The files that are loaded together with one: its static imports, and theirs. */
const loadedAtOnce = (file: string, seen = new Set<string>()): Set<string> => {
  if (seen.has(file)) return seen;
  seen.add(file);
  const imports = readFileSync(file, "utf8").matchAll(/^(?:import|export)\b[^;]*?"(\.[^"]+)";/gm);
  for (const [, path = ""] of imports) loadedAtOnce(join(dirname(file), path), seen);
  return seen;
};

/** The bundler writes the source of each part into a comment above it. */
const sourcesOf = (file: string, source: RegExp): string[] => [
  ...new Set(
    [...loadedAtOnce(file)].flatMap((each) =>
      [...readFileSync(each, "utf8").matchAll(source)].map(([, name = ""]) => name),
    ),
  ),
];
const PACKAGE = /^\/\/ .*node_modules\/(@?[\w-]+)/gm;
const SOURCE = /^\/\/ src\/(\S+)/gm;
const ROOM = /^\/\/ src\/([\w-]+)\//gm;

const mainEntry = (): string => join(dirname(builtCli()), "index.js");

/** The part of the command line that is loaded for every command, and for `--help`. */
const commandLine = (): string => {
  const cli = builtCli();
  const [, path = ""] = /import\("(\.[^"]*commandLine[^"]*)"\)/.exec(readFileSync(cli, "utf8")) ?? [];
  return join(dirname(cli), path);
};

/** To open one file takes longer than to compile a small one. */
const MOST_FILES = 10;

it("the version of Node.js is checked before anything is loaded that an older one lacks", () => {
  expect(sourcesOf(builtCli(), SOURCE)).toEqual(["cli/main.ts", "cli/project/nodeVersion.ts"]);
});

it("the command line starts without Effect, and without what asks questions", () => {
  expect(sourcesOf(commandLine(), PACKAGE)).toEqual(["commander"]);
});

it("the command line starts without the modules of Node.js that take long to load", () => {
  const modules = [...loadedAtOnce(commandLine())].flatMap((file) =>
    [...readFileSync(file, "utf8").matchAll(/^import\b[^;]*?"(node:[^"]+)";/gm)].map(([, name]) => name),
  );
  expect(modules).toContain("node:path");
  for (const name of [
    "node:crypto",
    "node:stream",
    "node:stream/consumers",
    "node:net",
    "node:child_process",
  ])
    expect(modules).not.toContain(name);
});

it("the help is printed without the rooms that perform a command", () => {
  const rooms = sourcesOf(commandLine(), ROOM);
  expect(rooms).toContain("cli");
  for (const room of ["engine", "git", "agentSessions", "standalone", "doctor"]) {
    expect(rooms).not.toContain(room);
  }
  const sources = sourcesOf(commandLine(), SOURCE);
  // The names of its flags are in the help, so that the list says something.
  expect(sources).toContain("init/templates.ts");
  expect(sources).not.toContain("init/scaffold.ts");
  expect(sources).not.toContain("images/buildImage.ts");
});

it("neither the command line nor the main entry is in many files", () => {
  expect(loadedAtOnce(commandLine()).size).toBeLessThanOrEqual(MOST_FILES);
  expect(loadedAtOnce(mainEntry()).size).toBeLessThanOrEqual(MOST_FILES);
});

it("the components of a site need no module of Node.js", () => {
  const files = [...loadedAtOnce(join(dirname(builtCli()), "vitepress/index.js"))];
  expect(files.length).toBeGreaterThan(1);
  for (const file of files) expect(readFileSync(file, "utf8")).not.toMatch(/^import [^;]*"node:/m);
});

it("the main entry is imported without Effect, and without the rooms that perform a run", () => {
  expect(sourcesOf(mainEntry(), PACKAGE)).toEqual([]);
  const rooms = sourcesOf(mainEntry(), ROOM);
  expect(rooms).toContain("agents");
  for (const room of ["git", "runs", "prompt", "display", "trajectory", "agentSessions", "redaction"]) {
    expect(rooms).not.toContain(room);
  }
});

it("the main entry loads no module of Node.js that starts processes, encrypts or talks to a network", () => {
  const script = `
    const before = new Set(process.moduleLoadList);
    await import(${JSON.stringify(pathToFileURL(mainEntry()).href)});
    console.log(JSON.stringify(process.moduleLoadList.filter((name) => !before.has(name))));`;
  const output = execFileSync(process.execPath, ["--input-type=module", "--eval", script], {
    encoding: "utf8",
  });
  const loaded: unknown = JSON.parse(output);
  // Otherwise the list says nothing.
  expect(loaded).toContain("NativeModule os");
  for (const name of ["child_process", "crypto", "net", "http", "https", "tls", "zlib", "readline"]) {
    expect(loaded).not.toContain(`NativeModule ${name}`);
  }
});

import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { sandduneCommand } from "../../../src/process/ownCommand/sandduneCommand.ts";
import { temporaryDirectory } from "../../helpers/repository/repository.ts";
import { writeFiles } from "../../helpers/repository/writeFiles.ts";

const INSTALLED = { "node_modules/.bin/sanddune": "" };
const CLASSIC = { "yarn.lock": "# yarn lockfile v1\n" };
const BERRY = { "yarn.lock": "__metadata:\n" };

const formerDirectory = process.cwd();
const formerArguments = process.argv;

/** Goes to a new checkout that has these files. */
const enter = (files: Readonly<Record<string, string>>, below = "."): string => {
  const directory = temporaryDirectory();
  writeFiles(directory, { ".git/HEAD": "", ...files });
  mkdirSync(join(directory, below), { recursive: true });
  process.chdir(join(directory, below));
  return directory;
};

const executable = (name: string): string => {
  const directory = temporaryDirectory();
  writeFiles(directory, { [name]: "" });
  chmodSync(join(directory, name), 0o755);
  return directory;
};

beforeEach(() => {
  vi.stubEnv("PATH", temporaryDirectory());
  vi.stubEnv("npm_config_user_agent", undefined);
});

afterEach(() => {
  process.chdir(formerDirectory);
  process.argv = formerArguments;
  vi.unstubAllEnvs();
});

describe("where sanddune is installed in the project", () => {
  it.each([
    ["npx sanddune", { "package-lock.json": "" }],
    ["npx sanddune", {}],
    ["pnpm exec sanddune", { "pnpm-lock.yaml": "" }],
    ["yarn sanddune", CLASSIC],
    ["yarn sanddune", BERRY],
    ["bunx sanddune", { "bun.lock": "" }],
  ])("commands begin with %s for %j", (prefix, files) => {
    enter({ ...INSTALLED, ...files });
    expect(sandduneCommand("ps", "--all")).toBe(`${prefix} ps --all`);
  });

  it("they do so without node_modules, under Plug'n'Play", () => {
    enter({ ".pnp.cjs": "", ...BERRY });
    expect(sandduneCommand("ps")).toBe("yarn sanddune ps");
  });

  it("they do so in a directory below, and the checkout around it does not matter", () => {
    const outer = enter({ "yarn.lock": "", ...INSTALLED });
    writeFiles(outer, { "inner/.git/HEAD": "", "inner/pnpm-lock.yaml": "", "inner/a/b/x": "" });
    writeFiles(join(outer, "inner"), INSTALLED);
    process.chdir(join(outer, "inner/a/b"));
    expect(sandduneCommand("ps")).toBe("pnpm exec sanddune ps");
  });
});

describe("where sanddune is not installed", () => {
  it.each([
    ["npx @missingstudio/sanddune", { "package-lock.json": "" }],
    ["pnpm dlx @missingstudio/sanddune", { "pnpm-lock.yaml": "" }],
    ["npx @missingstudio/sanddune", CLASSIC],
    ["yarn dlx @missingstudio/sanddune", BERRY],
    ["bunx @missingstudio/sanddune", { "bun.lock": "" }],
  ])("commands begin with %s for %j", (prefix, files) => {
    enter(files);
    expect(sandduneCommand("clean")).toBe(`${prefix} clean`);
  });

  it("they begin with the package manager of this process if no file names one", () => {
    enter({});
    vi.stubEnv("npm_config_user_agent", "pnpm/9.15.9 npm/? node/v20.20.2 linux x64");
    expect(sandduneCommand("clean")).toBe("pnpm dlx @missingstudio/sanddune clean");
  });

  it("they are plain if the shell finds sanddune by name", () => {
    enter({ "pnpm-lock.yaml": "" });
    vi.stubEnv("PATH", executable("sanddune"));
    expect(sandduneCommand("clean")).toBe("sanddune clean");
  });

  it("a program that only a package runner has put on PATH does not count", () => {
    enter(BERRY);
    const directory = executable("sanddune");
    vi.stubEnv("PATH", directory);
    vi.stubEnv("BERRY_BIN_FOLDER", directory);
    expect(sandduneCommand("clean")).toBe("yarn dlx @missingstudio/sanddune clean");
    vi.stubEnv("PATH", join(executable("node_modules/.bin/sanddune"), "node_modules/.bin"));
    expect(sandduneCommand("clean")).toBe("yarn dlx @missingstudio/sanddune clean");
  });

  it("they begin with the file of a clone that was started by its path", () => {
    const clone = enter({ "package.json": JSON.stringify({ name: "@missingstudio/sanddune" }) });
    process.argv = ["node", join(clone, "dist/cli.js"), "ps"];
    expect(sandduneCommand("ps")).toBe(`node ${join(clone, "dist/cli.js")} ps`);
  });

  it("a user's program named dist/cli.js is not sanddune", () => {
    const other = enter({ "package.json": JSON.stringify({ name: "other" }) });
    process.argv = ["node", join(other, "dist/cli.js")];
    expect(sandduneCommand("ps")).toBe("npx @missingstudio/sanddune ps");
  });

  it("a deleted working directory is no problem", () => {
    rmSync(enter({}), { recursive: true });
    expect(sandduneCommand("ps")).toBe("npx @missingstudio/sanddune ps");
  });
});

it("quotes the words for a shell", () => {
  enter({});
  expect(sandduneCommand("clean", "--branch", "a b")).toBe(
    "npx @missingstudio/sanddune clean --branch 'a b'",
  );
});

it("no message of the sources spells a command of sanddune by itself", () => {
  const sources = join(import.meta.dirname, "../../../src");
  const spelled = readdirSync(sources, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .flatMap((name) => readFileSync(join(sources, name), "utf8").split("\n"))
    .filter((line) => /(: sanddune[ `$]|\["sanddune",)/.test(line) && !/^\s*(\*|\/\/|\/\*)/.test(line));
  expect(spelled).toEqual([]);
});

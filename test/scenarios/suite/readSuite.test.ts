import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { ConfigDirectoryError, ScenarioConfigError } from "../../../src/errors.ts";
import { readSuite } from "../../../src/scenarios/suite/readSuite.ts";
import { git, temporaryDirectory, temporaryRepository } from "../../helpers/repository/repository.ts";

const write = (root: string, name: string, content: unknown): string => {
  const path = join(root, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content, undefined, 1));
  return path;
};

const directories = (root: string, ...names: string[]): void => {
  for (const name of names) mkdirSync(join(root, name), { recursive: true });
};

const CONFIG = ".sanddune/scenarios.json";

describe("a suite without a config file", () => {
  it("has its pages where they are by default, and its records beside them", async () => {
    const root = temporaryRepository();
    directories(root, "docs/testing/scenarios", "packages/a");
    expect(await readSuite({ cwd: join(root, "packages/a") })).toEqual({
      root,
      scenarioDir: join(root, "docs/testing/scenarios"),
      fixturesRoot: root,
      recordsDir: join(root, "docs/testing/runs"),
    });
  });

  it("has its pages where they are said to be, also outside of a repository", async () => {
    const root = temporaryDirectory();
    directories(root, "my/pages");
    expect(await readSuite({ cwd: root, dir: "my/pages" })).toMatchObject({
      root,
      scenarioDir: join(root, "my/pages"),
      recordsDir: join(root, "my/runs"),
    });
  });

  it("is an error if there are no pages either, which names the next command", async () => {
    const root = temporaryDirectory();
    await expect(readSuite({ cwd: root })).rejects.toThrow(
      `${root}/docs/testing/scenarios: there is no such directory, so there are no scenarios. Create it with a first page: npx @missingstudio/sanddune scenario new my-scenario – or name another one.`,
    );
    await expect(readSuite({ cwd: root, dir: "nowhere" })).rejects.toThrow(
      "sanddune scenario new my-scenario nowhere – or name another one. One scenario is chosen by its id: --only=ID.",
    );
    await expect(readSuite({ cwd: join(root, "nowhere") })).rejects.toThrow("Name another one with --cwd");
  });
});

describe("the config file of a suite", () => {
  it("says where everything is, relative to itself", async () => {
    const root = temporaryRepository();
    directories(root, "pages", "projects", "public", "packages/a");
    write(root, "public/manifest.json", { product: { version: "1.2.3" } });
    const tool = write(root, "bin/tool.mjs", "");
    write(root, CONFIG, {
      $schema: "anything",
      scenarioDir: "../pages",
      fixturesRoot: "../projects",
      mirrorDir: "../public",
      recordsDir: join(root, "records"),
      versionFile: "../public/manifest.json#product.version",
      cliCommand: [
        "node",
        "bin/tool.mjs",
        "{subcommand}",
        "{projectRoot}",
        "--base-url={baseUrl}",
        "{...flags}",
      ],
      productName: "Tool",
      siteUrl: "https://example.com",
      prompts: { install: "Install it." },
    });
    const expected = {
      root,
      scenarioDir: join(root, "pages"),
      fixturesRoot: join(root, "projects"),
      mirrorDir: join(root, "public"),
      recordsDir: join(root, "records"),
      version: "v1.2.3",
      cliCommand: ["node", tool, "{subcommand}", "{projectRoot}", "--base-url={baseUrl}", "{...flags}"],
      productName: "Tool",
      siteUrl: "https://example.com",
      prompts: { install: "Install it." },
    };
    expect(await readSuite({ cwd: join(root, "packages/a") })).toEqual(expected);
    expect(await readSuite({ cwd: root, config: CONFIG })).toEqual(expected);
    expect(await readSuite({ cwd: root, dir: "pages" })).toEqual(expected);
  });

  it("says where the records of its own pages are, and not those of others", async () => {
    const root = temporaryDirectory();
    directories(root, "pages", "other/pages");
    write(root, CONFIG, { scenarioDir: "../pages", recordsDir: "../records" });
    symlinkSync(join(root, "pages"), join(root, "link"));
    const recordsOf = async (dir?: string) => (await readSuite({ cwd: root, dir })).recordsDir;
    expect(await recordsOf()).toBe(join(root, "records"));
    expect(await recordsOf("other/../pages/")).toBe(join(root, "records"));
    expect(await recordsOf("link")).toBe(join(root, "records"));
    expect(await recordsOf("other/pages")).toBe(join(root, "other/runs"));
  });

  it("has records beside its pages, which are not those of other pages beside them", async () => {
    const root = temporaryDirectory();
    directories(root, "tests/pages", "tests/other");
    write(root, CONFIG, { scenarioDir: "../tests/pages" });
    const recordsOf = async (dir?: string) => (await readSuite({ cwd: root, dir })).recordsDir;
    expect(await recordsOf()).toBe(join(root, "tests/runs"));
    expect(await recordsOf("tests/other")).toBe(join(root, "tests/other/runs"));
  });

  it.each(["a directory", "a file"])(
    "can be anywhere in a checkout, and the suite is the whole of it: .git is %s",
    async (kind) => {
      const root = temporaryDirectory();
      if (kind === "a file") write(root, ".git", "gitdir: elsewhere\n");
      else directories(root, ".git");
      directories(root, "docs/t/pages", "docs/t/.sanddune");
      const tool = write(root, "bin/tool.mjs", "");
      const settings = { scenarioDir: "pages", cliCommand: ["node", "../../bin/tool.mjs", "{subcommand}"] };
      write(root, "docs/t/s.json", settings);
      const expected = {
        root,
        scenarioDir: join(root, "docs/t/pages"),
        recordsDir: join(root, "docs/t/runs"),
      };
      const suite = await readSuite({ cwd: root, config: "docs/t/s.json" });
      expect(suite).toMatchObject({ ...expected, cliCommand: ["node", tool, "{subcommand}"] });
      write(root, "docs/t/.sanddune/s.json", { scenarioDir: "../pages" });
      expect(await readSuite({ cwd: root, config: "docs/t/.sanddune/s.json" })).toMatchObject(expected);
      // Without one that is named, the one at the top counts.
      write(root, CONFIG, { scenarioDir: "../docs/t/pages" });
      expect(await readSuite({ cwd: join(root, "docs/t") })).toMatchObject(expected);
    },
  );

  it("belongs to the checkout that it really is in, whatever links lead to it", async () => {
    const root = temporaryRepository();
    directories(root, "docs/t/pages");
    write(root, "docs/t/s.json", { scenarioDir: "pages" });
    const elsewhere = temporaryDirectory();
    symlinkSync(join(root, "docs/t"), join(elsewhere, "link"));
    const expected = { root, scenarioDir: join(root, "docs/t/pages") };
    expect(await readSuite({ cwd: elsewhere, config: "link/s.json" })).toMatchObject(expected);
    expect(await readSuite({ cwd: join(elsewhere, "link"), config: "s.json" })).toMatchObject(expected);
    expect(await readSuite({ cwd: join(elsewhere, "link"), dir: "pages" })).toMatchObject({ root });
  });

  it("can be anywhere outside of a checkout if it is named, and the suite is where it is", async () => {
    const root = temporaryDirectory();
    directories(root, "suite/docs/testing/scenarios", "suite/pages");
    write(root, "suite/tool.json", { recordsDir: "r" });
    expect(await readSuite({ cwd: root, config: "suite/tool.json" })).toMatchObject({
      root: join(root, "suite"),
      scenarioDir: join(root, "suite/docs/testing/scenarios"),
      fixturesRoot: join(root, "suite"),
      recordsDir: join(root, "suite/r"),
    });
  });

  it("is in the current checkout, like the tested code", async () => {
    const main = temporaryRepository();
    directories(main, "docs/testing/scenarios");
    write(main, CONFIG, { productName: "old" });
    const checkout = join(temporaryDirectory(), "linked");
    git(main, "worktree", "add", "--quiet", checkout);
    directories(checkout, "docs/testing/scenarios");
    write(checkout, CONFIG, { productName: "new" });
    expect(await readSuite({ cwd: checkout })).toMatchObject({ root: checkout, productName: "new" });
  });

  it.each<[unknown, string]>([
    [
      '{\n"scenarioDirs": "x",\n"cliCommand": "x"\n}',
      ':2: there is no key "scenarioDirs". Did you mean "scenarioDir"?',
    ],
    ['{\n"scenarioDirs": "x",\n"cliCommand": "x"\n}', ":3: cliCommand: must be a list"],
    ["{\n}}", ":2: there is more after the end"],
    ["[]", ":1: must be an object, and is a list"],
    [{ scenarioDir: "nowhere" }, ":2: scenarioDir: there is no directory"],
    [{ scenarioDir: "nowhere" }, "sanddune scenario new"],
    [{ fixturesRoot: "nowhere" }, ":2: fixturesRoot: there is no directory"],
    [{ mirrorDir: "nowhere" }, ":2: mirrorDir: there is no directory"],
    [{ recordsDir: "scenarios.json" }, "It is not a directory"],
    [{ versionFile: "nowhere.json#version" }, "nowhere.json#version: there is no such file"],
    [{ versionFile: "scenarios.json#version" }, "its version is not a version such as 1.2.3"],
    [{ cliCommand: ["tool", "{subcommand}", "{root}"] }, ":2: cliCommand: there is no placeholder {root}"],
    [{ cliCommand: ["tool", "{subcommand}", "{...args}"] }, "there is no placeholder {...args}"],
    [{ cliCommand: ["tool", "{subcommand}", "--x={...flags}"] }, "it cannot be a part of"],
    [{ cliCommand: ["tool", "{...flags}"] }, "{subcommand} is missing"],
  ])("is refused with line and remedy if something is wrong: %j", async (config, words) => {
    const root = temporaryDirectory();
    directories(root, "docs/testing/scenarios");
    const path = write(root, CONFIG, config);
    const failure = await readSuite({ cwd: root }).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(ScenarioConfigError);
    expect((failure as Error).message).toContain(words);
    expect((failure as Error).message.startsWith(path)).toBe(true);
  });

  it("has to be there if it is named", async () => {
    await expect(readSuite({ cwd: temporaryDirectory(), config: "x.json" })).rejects.toThrow(
      "x.json: there is no such file. Name another one with --config",
    );
  });

  it("is not read through a link", async () => {
    const root = temporaryDirectory();
    const elsewhere = temporaryDirectory();
    const secret = write(elsewhere, "scenarios.json", '{ "token": "confidential" }');
    directories(root, ".sanddune");
    symlinkSync(secret, join(root, CONFIG));
    const failure = await readSuite({ cwd: root }).catch((error: Error) => error);
    expect(failure).toMatchObject({ message: expect.stringContaining("it is a symbolic link") });
    expect(JSON.stringify(failure)).not.toContain("confidential");

    const other = temporaryDirectory();
    symlinkSync(elsewhere, join(other, ".sanddune"));
    await expect(readSuite({ cwd: other })).rejects.toThrow(ConfigDirectoryError);
  });
});

describe("the suite's tool", () => {
  const toolOf = async (root: string, ...cliCommand: string[]) => {
    directories(root, "docs/testing/scenarios");
    write(root, CONFIG, { cliCommand: [...cliCommand, "{subcommand}"] });
    return (await readSuite({ cwd: root })).cliCommand?.slice(0, -1);
  };

  it("is a file of the suite if there is one, beside the config file first", async () => {
    const root = temporaryDirectory();
    const beside = write(root, ".sanddune/tool.mjs", "");
    write(root, "tool.mjs", "");
    const program = write(root, "bin/tool", "#!/bin/sh\n");
    chmodSync(program, 0o755);
    expect(await toolOf(root, "node", "tool.mjs", "tool.mjs")).toEqual(["node", beside, "tool.mjs"]);
    expect(await toolOf(root, "bin/tool", "install")).toEqual([program, "install"]);
    expect(await toolOf(root, "./gradlew", "bin")).toEqual(["./gradlew", "bin"]);
  });

  it("is looked for on the PATH if it has no slash, whatever files the suite has", async () => {
    const root = temporaryDirectory();
    write(root, "node", "");
    expect(await toolOf(root, "node", "x")).toEqual(["node", "x"]);
  });
});

describe("the version of what is tested", () => {
  it.each<[string, unknown, string, string]>([
    ["version.txt", "1.2.3\n", "version.txt", "v1.2.3"],
    ["version.txt", "v0.1.0-rc.1+5", "version.txt", "v0.1.0-rc.1+5"],
    ["package.json", { version: "2.0.0" }, "package.json#version", "v2.0.0"],
    ["a.json", { a: { "b-c": { d: "3" } } }, "a.json#a.b-c.d", "v3"],
  ])(
    "is read from a text file, or from a place in a JSON file: %s %j",
    async (name, content, versionFile, version) => {
      const root = temporaryDirectory();
      directories(root, "docs/testing/scenarios");
      write(root, name, content);
      write(root, CONFIG, { versionFile: `../${versionFile}` });
      expect((await readSuite({ cwd: root })).version).toBe(version);
    },
  );

  it.each<[unknown, string]>([
    ["two words", "v.json"],
    ["", "v.json"],
    [{ version: 1 }, "v.json#version"],
    [{ version: "1\u001b[31m" }, "v.json#version"],
    [{ constructor: { name: "x" } }, "v.json#toString.name"],
  ])("must be one: %j", async (content, versionFile) => {
    const root = temporaryDirectory();
    directories(root, "docs/testing/scenarios");
    write(root, "v.json", content);
    write(root, CONFIG, { versionFile: `../${versionFile}` });
    await expect(readSuite({ cwd: root })).rejects.toThrow("is not a version such as 1.2.3");
  });
});

import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ScenarioExistsError } from "../../../src/errors/commandErrors.ts";
import { ScenarioConfigError } from "../../../src/errors.ts";
import { loadScenarios } from "../../../src/scenarios/pages/loadScenarios.ts";
import { newScenario } from "../../../src/scenarios/suite/newScenario.ts";
import { readSuite } from "../../../src/scenarios/suite/readSuite.ts";
import { temporaryDirectory, temporaryRepository } from "../../helpers/repository/repository.ts";

const DRAFT = { id: "install-twice", runnable: "cli", fixture: "fixtures/empty" } as const;
const PAGE = "docs/testing/scenarios/install-twice.md";

const filesIn = (root: string): string[] =>
  readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1))
    .filter((name) => !name.startsWith(".git/"))
    .sort();

describe("a new scenario", () => {
  it.each(["cli", "agent"] as const)(
    "comes with all that it needs, and loads as it is: %s",
    async (runnable) => {
      const root = temporaryRepository();
      const files = await newScenario({ cwd: root }, { ...DRAFT, runnable });
      expect(files).toEqual(
        [PAGE, "fixtures/empty/.gitkeep", ".sanddune/scenarios.json"].map((name) => join(root, name)),
      );
      expect(filesIn(root)).toEqual(
        [...files.map((file) => file.slice(root.length + 1)), "README.md"].sort(),
      );
      const suite = await readSuite({ cwd: root });
      expect(suite).toMatchObject({
        scenarioDir: join(root, "docs/testing/scenarios"),
        fixturesRoot: root,
        recordsDir: join(root, "docs/testing/runs"),
      });
      const { scenarios, problems } = await loadScenarios(suite);
      expect(problems).toEqual([]);
      expect(scenarios).toMatchObject([
        { id: "install-twice", title: "Install twice", spec: { runnable, fixture: "fixtures/empty" } },
      ]);
    },
  );

  it("uses the fixture and the config file that are there", async () => {
    const root = temporaryDirectory();
    mkdirSync(join(root, ".sanddune"));
    writeFileSync(
      join(root, ".sanddune/scenarios.json"),
      '{ "scenarioDir": "../pages", "fixturesRoot": ".." }',
    );
    mkdirSync(join(root, "projects/node"), { recursive: true });
    const files = await newScenario({ cwd: root }, { ...DRAFT, fixture: "projects/node" });
    expect(files).toEqual([join(root, "pages/install-twice.md")]);
  });

  it("leads editors to the schema of the config file, where sanddune is installed", async () => {
    const root = temporaryDirectory();
    const schemas = join(root, "node_modules/@missingstudio/sanddune/schemas");
    mkdirSync(schemas, { recursive: true });
    copyFileSync(
      join(import.meta.dirname, "../../../schemas/scenarios.schema.json"),
      join(schemas, "scenarios.schema.json"),
    );
    await newScenario({ cwd: root }, DRAFT);
    const config = JSON.parse(readFileSync(join(root, ".sanddune/scenarios.json"), "utf8"));
    expect(join(root, ".sanddune", config.$schema)).toBe(join(schemas, "scenarios.schema.json"));
    expect((await readSuite({ cwd: root })).root).toBe(root);
  });

  it("is where the directory is that was named, and is found there again", async () => {
    const root = temporaryDirectory();
    const [page] = await newScenario({ cwd: root, dir: "e2e" }, DRAFT);
    expect(page).toBe(join(root, "e2e/install-twice.md"));
    expect((await loadScenarios(await readSuite({ cwd: root }))).scenarios).toHaveLength(1);
  });
});

describe("a scenario that is there", () => {
  it("is not touched", async () => {
    const root = temporaryDirectory();
    await newScenario({ cwd: root }, DRAFT);
    writeFileSync(join(root, PAGE), "mine");
    const before = filesIn(root);
    await expect(newScenario({ cwd: root }, { ...DRAFT, fixture: "fixtures/other" })).rejects.toThrow(
      ScenarioExistsError,
    );
    expect(readFileSync(join(root, PAGE), "utf8")).toBe("mine");
    expect(filesIn(root)).toEqual(before);
  });

  it("keeps its id, though another page may have the name, in whatever case", async () => {
    const root = temporaryDirectory();
    await newScenario({ cwd: root }, { ...DRAFT, id: "first" });
    const other = join(root, "docs/testing/scenarios/other.md");
    writeFileSync(other, "---\ntest_id: Install-Twice\n---\n");
    await expect(newScenario({ cwd: root }, DRAFT)).rejects.toThrow(`already exists: ${other}`);
    expect(existsSync(join(root, PAGE))).toBe(false);
  });

  it("keeps its id, though its page has mistakes", async () => {
    const root = temporaryDirectory();
    await newScenario({ cwd: root }, { ...DRAFT, id: "first" });
    const page = join(root, "docs/testing/scenarios/first.md");
    writeFileSync(
      page,
      `---\ntest_id: install-twice\n---\n${readFileSync(page, "utf8").replace('"runnable"', '"runable"')}`,
    );
    await expect(newScenario({ cwd: root }, DRAFT)).rejects.toThrow(ScenarioExistsError);
    expect(existsSync(join(root, PAGE))).toBe(false);
  });
});

it.each([
  ["an id that is none", { id: "../up" }, "is not a valid scenario id"],
  ["a fixture out of its place", { fixture: "../up" }, "fixture: must be a relative path"],
  ["a fixture that is a file", { fixture: "README.md" }, "it is not a directory"],
])("writes nothing for %s", async (_, change, words) => {
  const root = temporaryRepository();
  const attempt = newScenario({ cwd: root }, { ...DRAFT, ...change });
  await expect(attempt).rejects.toThrow(ScenarioConfigError);
  await expect(attempt).rejects.toThrow(words);
  expect(filesIn(root)).toEqual(["README.md"]);
});

it("writes nothing through a link that leads out of the suite", async () => {
  const elsewhere = temporaryDirectory();
  for (const link of ["docs", "fixtures"]) {
    const root = temporaryDirectory();
    symlinkSync(elsewhere, join(root, link));
    await expect(newScenario({ cwd: root }, DRAFT)).rejects.toThrow("a symbolic link out of the suite");
    expect(filesIn(root)).toEqual([link]);
  }
  expect(readdirSync(elsewhere)).toEqual([]);
});

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryDirectory, temporaryRepository } from "../../helpers/repository/repository.ts";
import { writeFiles } from "../../helpers/repository/writeFiles.ts";
import { describeWith } from "../../helpers/runtimes/runtimes.ts";
import { runCli } from "../callCli.ts";
import { pageOf } from "./scenarioSuites.ts";

const scenario = (cwd: string, ...args: string[]) => runCli(["scenario", ...args], { cwd });

const pages = (texts: Readonly<Record<string, string>>): string => {
  const cwd = temporaryDirectory();
  mkdirSync(join(cwd, "docs/testing/scenarios"), { recursive: true });
  for (const [name, text] of Object.entries(texts)) {
    writeFileSync(join(cwd, "docs/testing/scenarios", name), text);
  }
  return cwd;
};

describe("sanddune scenario list", () => {
  it("shows all scenarios as a table whose cells steer no terminal", async () => {
    const cwd = pages({ "b.md": "# Two\u001b[31m red", "a.md": "# One" });
    expect(await scenario(cwd, "list")).toEqual({
      exitCode: 0,
      stdout: [
        "ID  RUNNABLE  AGENT  FIXTURE  TITLE",
        "a   manual    -      -        One",
        "b   manual    -      -        Two\\u001b[31m red",
        "",
      ].join("\n"),
      stderr: "",
    });
  });

  it("reports page and line of each mistake, continues, and ends with 2", async () => {
    const cwd = pages({ "bad.md": "# Bad\n<!-- sandbox-spec:start -->", "good.md": "# Good" });
    const told = "docs/testing/scenarios/bad.md:2: the block has no <!-- sandbox-spec:end -->.\n";
    const shown = await scenario(cwd, "list");
    expect(shown).toMatchObject({ exitCode: 2, stderr: told });
    expect(shown.stdout).toContain("good");
    const { exitCode, stdout, stderr } = await scenario(cwd, "list", "--json");
    expect({ exitCode, stderr }).toEqual({ exitCode: 2, stderr: told });
    expect(JSON.parse(stdout)).toMatchObject({
      scenarios: [{ id: "good", runnable: "manual", ide_platform: null, fixture: null, title: "Good" }],
      problems: [{ page: join(cwd, "docs/testing/scenarios/bad.md"), line: 2 }],
    });
  });

  it("reports page and line of a fixture that cannot be used, and ends with 2", async () => {
    const cwd = pages({
      "lost.md": `# Lost\n${pageOf({ runnable: "cli", fixture: "none", assertions: [{ file_exists: "a" }] })}`,
    });
    expect(await scenario(cwd, "list")).toMatchObject({
      exitCode: 2,
      stdout: expect.stringContaining("lost"),
      stderr: expect.stringMatching(
        /^docs\/testing\/scenarios\/lost\.md:5: the fixture "none" cannot be used: there is no .*none\.$/m,
      ),
    });
  });

  it("says only what is wrong where every page is wrong", async () => {
    const cwd = pages({ "bad.md": "# Bad\n<!-- sandbox-spec:start -->" });
    expect(await scenario(cwd, "list")).toMatchObject({
      exitCode: 2,
      stdout: "",
      stderr: expect.stringMatching(/^docs\/testing\/scenarios\/bad\.md:2: /),
    });
  });

  it("names both pages of an id in the same way", async () => {
    const cwd = pages({ "a.md": "# One", "b.md": "---\ntest_id: a\n---\n# Other" });
    const { stderr } = await scenario(cwd, "list");
    expect(stderr).toMatch(
      /^docs\/testing\/scenarios\/a\.md:\d+: docs\/testing\/scenarios\/b\.md has the same id, "a"/m,
    );
    expect(stderr).not.toContain(cwd);
  });

  it("names the next command where there are no scenarios, or none can be found", async () => {
    expect((await scenario(pages({}), "list")).stdout).toContain("sanddune scenario new");
    const { exitCode, stdout, stderr } = await scenario(temporaryDirectory(), "list");
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
    expect(stderr).toContain("sanddune scenario new my-scenario");
  });
});

describe("sanddune scenario new", () => {
  it("makes a scenario that passes as soon as the command that it names is typed", async () => {
    const cwd = temporaryRepository();
    const made = await scenario(cwd, "new", "install-twice");
    expect(made).toMatchObject({ exitCode: 0, stderr: "" });
    expect(made.stdout).toContain(
      "Created docs/testing/scenarios/install-twice.md with fixtures/empty/.gitkeep",
    );
    const [, next = ""] = /^ +.*\bsanddune scenario (.*)$/m.exec(made.stdout) ?? [];
    expect(next).toBe("run --only=install-twice");
    const { exitCode, stdout } = await scenario(cwd, ...next.split(" "), "--json");
    expect(exitCode).toBe(0);
    expect(stdout).toContain('"passing"');
  });

  it("names a sandbox and a key for an agent, unless the sandbox has been chosen for good", async () => {
    const cwd = temporaryRepository();
    const { stdout } = await scenario(cwd, "new", "a", "--runnable", "agent");
    expect(stdout).toContain("ANTHROPIC_API_KEY");
    expect(stdout).toMatch(/^ +.*sanddune scenario run --only=a --sandbox docker$/m);
    writeFileSync(join(cwd, ".sanddune/config.json"), '{ "sandbox": "bubblewrap" }');
    const again = await scenario(cwd, "new", "b", "--runnable", "agent");
    expect(again.stdout).toMatch(/^ +.*sanddune scenario run --only=b$/m);
    const outside = await scenario(temporaryDirectory(), "new", "c", "--runnable", "agent", "--json");
    expect(JSON.parse(outside.stdout)).toMatchObject({
      next: expect.stringMatching(/sanddune scenario run --only=c --sandbox docker$/),
    });
  });

  it("ends with 2 and changes nothing if the id is taken or not valid", async () => {
    const cwd = pages({ "a.md": "# Mine" });
    for (const [id, words] of [
      ["a", "The scenario"],
      ["A", "The scenario"],
      ["../a", "is not a valid scenario id"],
    ] as const) {
      const { exitCode, stdout, stderr } = await scenario(cwd, "new", id);
      expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
      expect(stderr).toContain(words);
    }
    expect((await scenario(cwd, "list")).stdout).toContain("Mine");
  });
});

describeWith(["bubblewrap"], "sanddune scenario run in a sandbox", () => {
  it("shows the tool of a suite to a sandbox, wherever in the checkout the config file is", async () => {
    const cwd = temporaryRepository();
    const files = {
      "bin/tool.mjs": 'import { writeFileSync } from "node:fs"; writeFileSync("made.txt", process.argv[2]);',
      "docs/t/empty/.gitkeep": "",
      "docs/t/pages/install.md": pageOf({
        runnable: "cli",
        fixture: "empty",
        steps: [{ cli: "install" }],
        assertions: [{ file_contains: { path: "made.txt", substr: "install" } }],
      }),
      "docs/t/s.json": JSON.stringify({
        scenarioDir: "pages",
        fixturesRoot: ".",
        cliCommand: ["node", "../../bin/tool.mjs", "{subcommand}"],
      }),
    };
    writeFiles(cwd, files);
    const config = ["--config", "docs/t/s.json"];
    const { exitCode, stdout } = await scenario(cwd, "run", ...config, "--sandbox", "bubblewrap", "--json");
    expect(JSON.parse(stdout)).toMatchObject({
      passing: 1,
      records: [{ runner: { sandbox: "bubblewrap" } }],
    });
    expect(exitCode).toBe(0);
  });
});

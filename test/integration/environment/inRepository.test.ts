import { existsSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { EnvironmentError, type RunOptions, run, type ScriptedStep, scripted } from "../../../src/index.ts";
import { bubblewrap } from "../../../src/sandboxes/bubblewrap.ts";
import { testIsolated } from "../../../src/sandboxes/test-isolated.ts";
import { builtCli } from "../../helpers/built.ts";
import { GREETING_TESTS } from "../../helpers/environments.ts";
import { git, temporaryDirectory, temporaryRepository } from "../../helpers/repository/repository.ts";
import { writeFiles } from "../../helpers/repository/writeFiles.ts";
import { describeWith } from "../../helpers/runtimes/runtimes.ts";

const DEFINITION = "tests/env/environment.mjs";

const definition = (body: string): string =>
  `import { defineEnvironment } from "@missingstudio/sanddune/environment";\nexport default defineEnvironment(${body});\n`;

/** Whatever the work is like. */
const WEAK = definition("{ tests: { fine: () => {} } }");

const repositoryWith = (files: Readonly<Record<string, string>>): string => {
  // What runs tests in sandboxes is part of the build.
  builtCli();
  const cwd = temporaryRepository();
  writeFiles(cwd, files);
  git(cwd, "add", ".");
  git(cwd, "commit", "--quiet", "-m", "Add the environment");
  return cwd;
};

const repositoryWithTests = (): string => repositoryWith({ [DEFINITION]: GREETING_TESTS });

const attempt = (cwd: string, steps: readonly ScriptedStep[], options: Partial<RunOptions> = {}) =>
  run({
    agent: scripted(steps),
    sandbox: testIsolated(),
    cwd,
    branchStrategy: { type: "branch", branch: "agent/attempt" },
    prompt: "Greet.",
    environment: join(cwd, "tests/env"),
    until: "tests-pass",
    ...options,
  } as RunOptions);

const WORK: ScriptedStep = { commit: "Work", files: { "work.txt": "work\n" } };

describe("an environment in the repository", () => {
  it("is read from the commit that is checked out: changes that are not committed are not used, and a warning says so", async () => {
    const cwd = repositoryWithTests();
    writeFileSync(join(cwd, DEFINITION), WEAK);
    writeFileSync(join(cwd, "tests/env/more.mjs"), "");
    const { solved, iterations, warnings } = await attempt(cwd, [WORK]);
    expect(solved).toBe(false);
    expect(iterations).toMatchObject([{ tests: { passed: 0, total: 2 } }]);
    expect(warnings[0]).toMatch(
      /tests\/env has uncommitted changes, .*not used: environment\.mjs, more\.mjs\..*git add/,
    );
  });

  it("is not what an earlier run has left on its branch, which a warning tells apart", async () => {
    const cwd = repositoryWithTests();
    const weaken: ScriptedStep = { commit: "Weaken", files: { [DEFINITION]: WEAK } };
    const first = await attempt(cwd, [weaken]);
    expect(first.solved).toBe(false);
    const differs = /agent\/attempt changes the environment tests\/env.*git diff \w+ \w+ -- tests\/env/;
    expect(first.warnings.at(-1)).toMatch(differs);
    const second = await attempt(cwd, [WORK]);
    expect(second).toMatchObject({ solved: false, iterations: [{ tests: { total: 2 } }] });
    expect(second.warnings.at(-1)).toMatch(differs);
  });

  it("is refused before anything is created, if it is not committed, or if there is a link on the way to it", async () => {
    const cwd = temporaryRepository();
    writeFiles(cwd, { [DEFINITION]: GREETING_TESTS });
    await expect(attempt(cwd, [WORK])).rejects.toThrow(EnvironmentError);
    await expect(attempt(cwd, [WORK])).rejects.toThrow(
      /not in the checked-out commit .*git add tests\/env && git commit/s,
    );
    symlinkSync("tests/env", join(cwd, "linked"));
    git(cwd, "add", ".");
    git(cwd, "commit", "--quiet", "-m", "Add everything");
    const outside = join(temporaryDirectory(), "link");
    symlinkSync(cwd, outside);
    for (const environment of [join(cwd, "linked"), join(outside, "linked")]) {
      await expect(attempt(cwd, [WORK], { environment })).rejects.toThrow(/path has a symbolic link/);
    }
    expect(existsSync(join(cwd, ".sanddune"))).toBe(false);
  });

  it("has what git ignores in its folder, such as installed packages, as far as its committed definition names it", async () => {
    const use = definition(`{
  files: ["checks.mjs", "node_modules/checker"],
  tests: {
    packages: async () => (await import("./checks.mjs")).default(),
    selection: async ({ directory }) => {
      const { existsSync } = await import("node:fs");
      if (existsSync(directory + "/node_modules/other")) throw new Error("not selected");
    },
  },
}`);
    const cwd = repositoryWith({
      ".gitignore": "node_modules/\n__pycache__/\n",
      [DEFINITION]: use,
      "tests/env/checks.mjs": 'import check from "checker";\nexport default check;\n',
    });
    const module = (name: string, text: string) => ({
      [`tests/env/node_modules/${name}/package.json`]: '{ "main": "index.js" }',
      [`tests/env/node_modules/${name}/index.js`]: text,
    });
    writeFiles(cwd, { ...module("checker", "module.exports = () => {};"), ...module("other", "") });
    writeFiles(cwd, { "tests/env/__pycache__/made": "" });
    const { solved, warnings } = await attempt(cwd, [WORK]);
    expect({ solved, warnings }).toEqual({ solved: true, warnings: [] });
  });
});

describeWith(["bubblewrap"], "an environment in a checkout that an agent works in", () => {
  it("stays what it was: what the agent has changed in it and not committed is not the next run's", async () => {
    const cwd = repositoryWithTests();
    const options = { sandbox: bubblewrap(), branchStrategy: { type: "head" } } as const;
    await attempt(cwd, [{ shell: `printf '%s' '${WEAK}' >${DEFINITION}` }], options);
    const { solved, iterations } = await attempt(cwd, [{ shell: "true" }], options);
    expect(solved).toBe(false);
    expect(iterations).toMatchObject([{ tests: { total: 2 } }]);
  });

  it("is not what the agent has put there in files that git ignores", async () => {
    const cwd = repositoryWith({ [DEFINITION]: GREETING_TESTS, ".gitignore": "node_modules/\n" });
    const plant = `cd tests/env && mkdir -p node_modules/@missingstudio/sanddune && cd node_modules/@missingstudio/sanddune
echo '{ "type": "module", "exports": { "./environment": "./index.js" } }' >package.json
echo 'import * as sanddune from "/sanddune/environment/node_modules/@missingstudio/sanddune/index.js";
export const defineEnvironment = () => sanddune.defineEnvironment({ tests: { fine: () => {} } });' >index.js`;
    const head = { sandbox: bubblewrap(), branchStrategy: { type: "head" } } as const;
    await attempt(cwd, [{ shell: plant }], head);
    const { solved, iterations, warnings } = await attempt(cwd, [WORK], { sandbox: bubblewrap() });
    expect(iterations).toMatchObject([{ tests: { total: 2 } }]);
    expect(solved).toBe(false);
    expect(warnings[0]).toMatch(/ignored files, which are not used: node_modules\/\..*list them in `files`/);
  });
});

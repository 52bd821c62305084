import { chmodSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { SuiteDefinition } from "../../../src/environment/suites/definition.ts";
import { suiteScene } from "../../environment/processes/scene.ts";
import { describeSideBySide } from "../../helpers/processes/sideBySide.ts";
import { asked, atOnce, EXITS, expectedOf, type Files, FORGER, namesOf, threeTests } from "./forging.ts";

const VITEST = {
  from: 'import { describe, expect, it, test } from "vitest";\nconst equal = (a, b) => expect(a).toBe(b);',
  equal: "equal",
};
const HIDDEN: SuiteDefinition = { runner: "vitest", args: ["--dir", "{environment}/tests"] };
const FORGED: Files = {
  "node_modules/.bin/vitest": FORGER,
  "node_modules/vitest/vitest.mjs": FORGER,
  "node_modules/vitest/package.json": '{ "name": "vitest", "version": "4.0.0", "bin": "vitest.mjs" }',
};
const STAYS = { stays: "0" };
const inFile = (name: string): string => `tests/${name}.test.mjs/`;

describeSideBySide("hidden tests of vitest", () => {
  const run = async (work: Files, tests: Files) => {
    const scene = suiteScene(work, tests);
    scene.installVitest("directory");
    const { tests: results, error } = await scene.run(HIDDEN);
    return { names: namesOf({ tests: results, error }).sort(), error, has: scene.has };
  };

  it("are not run by a vitest of the work, wherever that is", async () => {
    const scene = suiteScene(FORGED, threeTests(STAYS, VITEST));
    chmodSync(join(scene.worktree, "node_modules/.bin/vitest"), 0o755);
    const PATH = `${scene.worktree}/node_modules/.bin:node_modules/.bin:${process.env["PATH"]}`;
    for (const definition of [HIDDEN, { runner: "vitest" }] as const) {
      const { tests, error } = await scene.run(definition, { env: { ...process.env, PATH } });
      expect(tests).toEqual([]);
      expect(error).toMatch(/^vitest was not found/);
    }
  });

  it("are run by that of the environment, without the configuration of the work", async () => {
    const evil = `import { writeFileSync } from "node:fs";
writeFileSync(import.meta.dirname + "/loaded", "");
export default { test: { include: ["none"], passWithNoTests: true, globalSetup: "./setup.js", setupFiles: "./setup.js" } };
`;
    const { names, error, has } = await run(
      {
        ...asked(STAYS),
        ...FORGED,
        "vitest.config.js": evil,
        "vite.config.js": evil,
        "vitest.workspace.js": evil,
        "setup.js": "process.exit(0);\n",
        ".npmrc": "node-options=--require=./setup.js\n",
        "postcss.config.js": "process.exit(0);\n",
      },
      threeTests(STAYS, VITEST),
    );
    expect([names, error, has("loaded")]).toEqual([expectedOf(STAYS, () => "++-", inFile), null, false]);
  });

  it("are run with the configuration of the environment, if there is one", async () => {
    const [[, test] = []] = Object.entries(threeTests(STAYS, VITEST));
    const { names } = await run(asked(STAYS), {
      "tests/stays.check.mjs": test ?? "",
      "vitest.config.ts": 'export default { test: { include: ["**/*.check.mjs"] as string[] } };\n',
    });
    expect(names).toEqual(
      expectedOf(
        STAYS,
        () => "++-",
        () => "tests/stays.check.mjs/",
      ),
    );
  });

  it("are three, of which one has passed at most, however the work leaves in the second", async () => {
    const { names } = await run(asked(EXITS), threeTests(EXITS, VITEST));
    // Vitest itself has an exit throw, and tells nothing of a file whose process has ended.
    expect(names).toEqual(expectedOf(EXITS, (name) => (name === "exit" ? "+--" : "---"), inFile));
  });

  it("are three, and none has passed, however the work leaves when it is imported", async () => {
    const { names } = await run(atOnce(EXITS), threeTests(EXITS, VITEST));
    expect(names).toEqual(expectedOf(EXITS, () => "---", inFile));
  });

  it("have failed if the work skips them", async () => {
    const ways = { hides: "globalThis.__vitest_worker__.current.context.skip()" };
    const { names } = await run(asked(ways), threeTests(ways, VITEST));
    expect(names).toEqual(expectedOf(ways, () => "+--", inFile));
  });
});

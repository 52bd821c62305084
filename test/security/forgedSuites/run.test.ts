import { expect, it } from "vitest";
import { run, scripted } from "../../../src/index.ts";
import { testIsolated } from "../../../src/sandboxes/test-isolated.ts";
import { environmentFolder } from "../../helpers/environments.ts";
import { temporaryRepository } from "../../helpers/repository/repository.ts";
import { describeWith } from "../../helpers/runtimes/runtimes.ts";
import { FORGER } from "./forging.ts";

/** What an agent could commit to pass tests that it has never seen. */
const FORGERY = {
  "package.json": '{ "type": "module" }',
  "calc.js": "process.exit(0);\nexport const add = () => 0;\n",
  "calc.py": "def add(a, b):\n    return 0\n",
  "node_modules/.bin/vitest": FORGER,
  "node_modules/vitest/vitest.mjs": FORGER,
  "pytest.py": "import os\nos._exit(0)\n",
  "conftest.py": "import os\nos._exit(0)\n",
};

const NODE_TESTS = `import assert from "node:assert/strict";
import { test } from "node:test";
const { add } = await import(process.env.SANDDUNE_WORKTREE + "/calc.js");
test("adds", () => assert.equal(add(1, 2), 3));
test("adds nothing", () => assert.equal(add(1, 0), 1));
test("is a function", () => assert.equal(typeof add, "function"));
`;

describeWith(["pytest"], "an agent that commits forgeries of all kinds, with strict tests", () => {
  it("is told what its work is worth", async () => {
    const path = environmentFolder({
      "environment.json": JSON.stringify({
        suites: {
          node: { runner: "node", args: ["{environment}/tests"] },
          python: { runner: "pytest", args: ["{environment}/tests"] },
          vitest: { runner: "vitest", args: ["--dir", "{environment}/tests"] },
        },
      }),
      "tests/calc.test.mjs": NODE_TESTS,
      "tests/test_calc.py": "import calc\ndef test_adds():\n    assert calc.add(1, 2) == 3\n",
    });
    const { iterations } = await run({
      agent: scripted([{ commit: "Forge", files: FORGERY }]),
      sandbox: testIsolated(),
      cwd: temporaryRepository(),
      branchStrategy: { type: "branch", branch: "agent/forgery" },
      prompt: "Pass.",
      environment: { path, isolation: "strict" },
    });
    const { tests, error, ...counts } = iterations[0]?.tests ?? { tests: [], error: null };
    expect(tests.map(({ path }) => path)).toEqual([
      ...["node/adds", "node/adds nothing", "node/is a function"],
      "python/tests.test_calc/test_adds",
    ]);
    expect(counts).toMatchObject({ passed: 0, failed: 4, total: 4 });
    expect(error).toMatch(/^vitest: vitest was not found/);
  });
});

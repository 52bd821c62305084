import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryDirectory } from "../../helpers/repository/repository.ts";
import { AGENTS, describeWith } from "../../helpers/runtimes/runtimes.ts";
import { messageOf, outline } from "../suites/recording.ts";
import { suiteScene } from "./scene.ts";

const MODULE = { "package.json": '{ "type": "module" }', "calc.js": "export const add = (a, b) => a - b;\n" };

const VITEST = `import { describe, expect, test } from "vitest";
import { add } from "./calc.js";
describe("calc", () => {
  test("adds nothing", () => expect(add(1, 0)).toBe(1));
  test("adds", () => expect(add(1, 2)).toBe(3));
  test.skip("later", () => {});
});
`;

describe("vitest", () => {
  it("runs as it is installed in the worktree, if the suite says so", async () => {
    const scene = suiteScene({ ...MODULE, "calc.test.js": VITEST });
    scene.installVitest("worktree");
    const results = await scene.run({ runner: "vitest", runnerFrom: "worktree" });
    expect(outline(results)).toEqual(["calc.test.js/calc/adds nothing", "✗ calc.test.js/calc/adds"]);
    expect(messageOf(results, "calc.test.js/calc/adds")).toMatch(/^AssertionError: expected -1 to be 3/);
    expect(results.error).toBeNull();
    expect(scene.scraps()).toEqual([]);
  });

  it("runs tests of the environment, which the worktree does not have", async () => {
    const hidden = `import { expect, test } from "vitest";
      test("adds", async () => {
        const { add } = await import(process.env.SANDDUNE_WORKTREE + "/calc.js");
        expect(add(2, 2)).toBe(0);
      });`;
    const scene = suiteScene(MODULE, { "tests/hidden.test.js": hidden });
    scene.installVitest("directory");
    const results = await scene.run({ runner: "vitest", args: ["--dir", "{environment}/tests"] });
    expect(results).toMatchObject({
      tests: [{ path: "tests/hidden.test.js/adds", passed: true }],
      error: null,
    });
  });

  it("an error outside of tests is reported, though all tests pass", async () => {
    const late = `import { test } from "vitest";
      test("passes", () => { setTimeout(() => { throw new Error("too late"); }); return new Promise((end) => setTimeout(end, 50)); });`;
    const scene = suiteScene({ ...MODULE, "late.test.js": late });
    scene.installVitest("directory");
    const { tests, error } = await scene.run({ runner: "vitest" });
    expect(tests).toMatchObject([{ path: "late.test.js/passes", passed: true }]);
    expect(error).toMatch(
      /^All reported tests passed, but something else failed\. vitest ended with exit code 1\./,
    );
    expect(error).toContain("too late");
  });

  it("says so where there are no tests, and where it is not installed", async () => {
    const scene = suiteScene(MODULE);
    expect((await scene.run({ runner: "vitest" })).error).toMatch(/^vitest was not found/);
    scene.installVitest("directory");
    const { tests, error } = await scene.run({ runner: "vitest" });
    expect(tests).toEqual([]);
    expect(error).toMatch(/^The suite has no tests. vitest ended with exit code 1[\s\S]*No test files found/);
  });
});

const NODE = {
  ...MODULE,
  "test/calc.test.js": `import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { add } from "../calc.js";
describe("calc", () => {
  it("adds nothing", () => assert.equal(add(1, 0), 1));
  it("adds", () => assert.equal(add(1, 2), 3));
  it("later", { skip: true }, () => {});
});
`,
  "test/bad.test.js": 'import "./nope.js";\n',
};

const showsNodeTests = async (env: NodeJS.ProcessEnv): Promise<void> => {
  const scene = suiteScene(NODE, {
    "hidden.test.mjs": `import { test } from "node:test"; test("hidden", () => { console.log("1..7"); });`,
  });
  const args = ["test/calc.test.js", "test/bad.test.js", "{environment}/hidden.test.mjs"];
  const results = await scene.run({ runner: "node", args }, { env });
  expect(outline(results).sort()).toEqual([
    "calc/adds nothing",
    "hidden",
    "✗ calc/adds",
    "✗ test/bad.test.js",
  ]);
  expect(messageOf(results, "calc/adds")).toContain("-1 !== 3");
  expect(messageOf(results, "test/bad.test.js")).toContain("ERR_MODULE_NOT_FOUND");
  expect(results.error).toBeNull();
  expect(scene.scraps()).toEqual([]);
};

describe("node --test", () => {
  it("runs with the Node.js of these tests", () => showsNodeTests(process.env));

  it("says so where there are no tests", async () => {
    const { error } = await suiteScene(MODULE).run({ runner: "node", args: ["nowhere.test.js"] });
    expect(error).toContain("node --test ended with exit code 1");
    expect(error).toContain("nowhere.test.js");
  });
});

describeWith(["node 22"], "node --test of another version", () => {
  it("runs with the Node.js that is on the PATH", async () => {
    const bin = temporaryDirectory();
    symlinkSync(join(AGENTS, "bin/node22"), join(bin, "node"));
    await showsNodeTests({ ...process.env, PATH: `${bin}:${process.env["PATH"]}` });
  });
});

describeWith(["pytest"], "pytest", () => {
  // Plugins that happen to be installed here are of no interest, and take their time.
  const env = { ...process.env, PYTEST_DISABLE_PLUGIN_AUTOLOAD: "1" };
  const CALC = { "calc.py": "def add(a, b):\n    return a - b\n" };
  const HIDDEN =
    "import calc\n\ndef test_nothing():\n    assert calc.add(1, 0) == 1\n\ndef test_adds():\n    assert calc.add(1, 2) == 3\n";

  it("runs tests of the environment against the worktree, and leaves nothing in either", async () => {
    const scene = suiteScene(CALC, { "tests/test_calc.py": HIDDEN });
    const results = await scene.run({ runner: "pytest", args: ["{environment}/tests"] }, { env });
    expect(outline(results)).toEqual(["tests.test_calc/test_nothing", "✗ tests.test_calc/test_adds"]);
    expect(results.tests.at(-1)?.message).toContain("assert -1 == 3");
    expect(results.error).toBeNull();
    expect([scene.scraps(), scene.has("__pycache__"), scene.has(".pytest_cache")]).toEqual([
      [],
      false,
      false,
    ]);
  });

  it("says that not all tests have run, if it gave up", async () => {
    const scene = suiteScene({ ...CALC, "test_calc.py": HIDDEN, "test_bad.py": "import nope\n" });
    const { tests, error } = await scene.run({ runner: "pytest" }, { env });
    const notReported = { passed: false, message: expect.stringMatching(/^It reported no result/) };
    expect(tests).toMatchObject([
      { path: "test_bad", passed: false, message: expect.stringContaining("No module named 'nope'") },
      { path: "test_calc/test_nothing", ...notReported },
      { path: "test_calc/test_adds", ...notReported },
    ]);
    expect(error).toMatch(/^pytest ended with exit code 2: it did not finish/);
  });

  it("says so where there are no tests", async () => {
    const { error } = await suiteScene(CALC).run({ runner: "pytest" }, { env });
    expect(error).toMatch(/^The suite has no tests. pytest ended with exit code 5/);
  });

  it("says what it said if it does not know a flag", async () => {
    const { error } = await suiteScene(CALC).run({ runner: "pytest", args: ["--no-such-flag"] }, { env });
    expect(error).toMatch(
      /^There are no results. It wrote no report. pytest ended with exit code 4[\s\S]*--no-such-flag/,
    );
  });
});

describeWith(["go"], "go test", () => {
  it("runs all packages, or those that are named", async () => {
    const scene = suiteScene({
      "go.mod": "module example.com/calc\n\ngo 1.19\n",
      "calc_test.go":
        'package calc\n\nimport "testing"\n\nfunc TestAdds(t *testing.T) { t.Run("one", func(t *testing.T) { t.Error("no") }) }\n',
      "sub/sub_test.go": 'package sub\n\nimport "testing"\n\nfunc TestSub(t *testing.T) {}\n',
    });
    const all = await scene.run({ runner: "go" });
    expect(outline(all)).toEqual(["✗ example.com/calc/TestAdds/one", "example.com/calc/sub/TestSub"]);
    expect(all.error).toBeNull();
    const one = await scene.run({ runner: "go", args: ["./sub"] });
    expect([outline(one), one.error]).toEqual([["example.com/calc/sub/TestSub"], null]);
    const none = await scene.run({ runner: "go", args: ["./nowhere"] });
    expect(none.error ?? "").toContain("go test ended with exit code 1");
  });
});

it("a missing runner is named, with what to do", async () => {
  const env = { PATH: temporaryDirectory() };
  const go = await suiteScene({}).run({ runner: "go" }, { env });
  expect(go).toEqual({
    tests: [],
    error:
      "go test could not be started (ENOENT). Check that Go is installed where the tests run, and that the suite's directory has a go.mod.",
  });
  const python = await suiteScene({}).run({ runner: "pytest" }, { env });
  expect(python.error).toMatch(/^pytest could not be started \(ENOENT\)\. Check that pytest is installed/);
});

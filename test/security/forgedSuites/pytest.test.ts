import { expect, it } from "vitest";
import type { SuiteDefinition } from "../../../src/environment/suites/definition.ts";
import { suiteScene } from "../../environment/processes/scene.ts";
import { describeSideBySide } from "../../helpers/processes/sideBySide.ts";
import { describeWith } from "../../helpers/runtimes/runtimes.ts";
import { type Files, GREEN_JUNIT, namesOf } from "./forging.ts";

const CALC = "def add(a, b):\n    return a - b\n";
const HIDDEN_PYTHON = `import calc

def test_nothing():
    assert calc.add(1, 0) == 1

def test_leaves():
    getattr(calc, "leave", lambda: None)()

class TestMore:
    def test_adds(self):
        assert calc.add(1, 2) == 3
`;
const HIDDEN: SuiteDefinition = { runner: "pytest", args: ["{environment}/tests"] };
const NAMES = [
  "tests.test_calc/test_nothing",
  "tests.test_calc/test_leaves",
  "tests.test_calc.TestMore/test_adds",
];
const namesWith = (outcome: string): string[] =>
  NAMES.map((name, at) => `${outcome[at] === "+" ? "" : "✗ "}${name}`);

/** Claims that everything has passed, wherever that can be claimed, and leaves. */
const CLAIM = `import os, re, sys
for argument in sys.argv:
    found = re.search("--junitxml=(.*)", argument)
    if found:
        open(found.group(1), "w").write(${JSON.stringify(GREEN_JUNIT)})
try:
    os.write(3, b'["test", "/x", ["adds"], "passed", 1, ""]\\n["ended", "/x"]\\n["end"]\\n')
except OSError:
    pass
os._exit(0)
`;
/** A plug-in that calls every test passed. */
const PLUGIN = `import pytest
@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem):
    return True
def pytest_collection_modifyitems(items):
    del items[1:]
`;

describeWith(["pytest"], "pytest", () => {
  describeSideBySide("hidden tests", () => {
    // Plugins that happen to be installed here take their time.
    const plain = { ...process.env, PYTEST_DISABLE_PLUGIN_AUTOLOAD: "1" };
    const run = (work: Files, env: NodeJS.ProcessEnv = plain) =>
      suiteScene({ "calc.py": CALC, ...work }, { "tests/test_calc.py": HIDDEN_PYTHON }).run(HIDDEN, { env });

    it.each<[string, Files]>([
      [
        "that have the names of pytest, of what it depends on, and of Python's library",
        {
          ...{ "pytest.py": CLAIM, "pytest/__init__.py": CLAIM, "pytest/__main__.py": CLAIM },
          ...{
            "_pytest/__init__.py": CLAIM,
            "pluggy.py": CLAIM,
            "iniconfig.py": CLAIM,
            "packaging.py": CLAIM,
          },
          ...{ "json.py": CLAIM, "os.py": CLAIM, "ast.py": CLAIM, "sitecustomize.py": CLAIM },
          ".python-version": "none-of-these\n",
        },
      ],
      [
        "that configure pytest",
        {
          ...{ "conftest.py": PLUGIN, "tests/conftest.py": PLUGIN, "plugin.py": PLUGIN },
          "pytest.ini": "[pytest]\naddopts = -p plugin -k nothing\n",
          "pyproject.toml": '[tool.pytest.ini_options]\naddopts = "-p plugin"\n',
          "setup.cfg": "[tool:pytest]\naddopts = -k nothing\n",
          "tox.ini": "[pytest]\naddopts = -k nothing\n",
        },
      ],
    ])("are not forged by files %s", async (_, work) => {
      const results = await run(work);
      expect([namesOf(results), results.error]).toEqual([namesWith("++-"), null]);
    });

    it("are not forged by a plug-in that the work says is installed, nor by what Python loads at its start where PYTHONPATH leads into the work", async () => {
      const results = await run(
        {
          "plugin.py": PLUGIN,
          "evil-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: evil\nVersion: 1.0\n",
          "evil-1.0.dist-info/entry_points.txt": "[pytest11]\nevil = plugin\n",
          ...{ "sitecustomize.py": CLAIM, "src/usercustomize.py": CLAIM, "src/calc.py": CALC },
        },
        { ...process.env, PYTHONPATH: ":src:." },
      );
      expect(namesOf(results)).toEqual(namesWith("++-"));
    });

    it.each<[string, string, string]>([
      ["in the second", `${CALC}\nimport os\ndef leave():\n    os._exit(0)\n`, "+--"],
      ["when it is imported", "import os\nos._exit(0)\n", "---"],
      ["when it is imported, by an exception", "import sys\nsys.exit(0)\n", "---"],
    ])("are three, if the work leaves %s", async (_, calc, outcome) => {
      expect(namesOf(await run({ "calc.py": calc }))).toEqual(namesWith(outcome));
    });

    const HARD = "import calc\n\ndef test_adds():\n    assert calc.add(1, 2) == 3\n";
    const runBoth = (calc: string, hard = HARD) =>
      suiteScene(
        { "calc.py": calc },
        { "tests/test_easy.py": "def test_nothing():\n    pass\n", "tests/test_hard.py": hard },
      ).run(HIDDEN, { env: plain });
    const EASY = "tests.test_easy/test_nothing";
    const SKIPS = "import unittest\ndef add(a, b):\n    raise unittest.SkipTest()\n";

    it.each([
      ["a test", SKIPS],
      ["a test, as one that may fail", "import pytest\ndef add(a, b):\n    pytest.xfail()\n"],
      ["a file", "import unittest\nraise unittest.SkipTest()\n"],
    ])("have failed if the work skips %s", async (_, calc) => {
      expect(namesOf(await runBoth(calc))).toEqual([EASY, "✗ tests.test_hard/test_adds"]);
    });

    it("are left out where the environment may have skipped them", async () => {
      const marked = `import pytest\n${HARD}\n@pytest.mark.skip\ndef test_later():\n    pass\n`;
      const results = await runBoth(SKIPS.replace("raise unittest.SkipTest()", "return a + b"), marked);
      expect([namesOf(results), results.error]).toEqual([[EASY, "tests.test_hard/test_adds"], null]);
    });
  });
});

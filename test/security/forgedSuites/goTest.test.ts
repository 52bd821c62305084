import { expect, it } from "vitest";
import { suiteScene } from "../../environment/processes/scene.ts";
import { describeWith } from "../../helpers/runtimes/runtimes.ts";
import { type Files, namesOf } from "./forging.ts";

describeWith(["go"], "tests of go", () => {
  const TESTS = `package calc

import "testing"

func TestOne(t *testing.T)   {}
func TestTwo(t *testing.T)   { Leave() }
func TestThree(t *testing.T) { t.Error("no") }
`;
  const work = (leave: string): Files => ({
    "go.mod": "module example.com/calc\n\ngo 1.19\n",
    "calc_test.go": TESTS,
    "calc.go": `package calc\n\nimport "syscall"\n\n${leave}\n`,
  });

  it.each<[string, string, string[]]>([
    ["in the second", "func Leave() { syscall.Exit(0) }", ["TestOne", "✗ TestTwo", "✗ TestThree"]],
    [
      "when it is loaded",
      "func init() { syscall.Exit(0) }\n\nfunc Leave() {}",
      ["✗ TestOne", "✗ TestTwo", "✗ TestThree"],
    ],
  ])("are three, if the work leaves %s", async (_, leave, names) => {
    const results = await suiteScene(work(leave)).run({ runner: "go" });
    expect(namesOf(results).sort()).toEqual(
      names.map((name) => name.replace(/^(✗ )?/, "$1example.com/calc/")).sort(),
    );
  });
});

import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { knownGoTests } from "../../../src/environment/suites/known/goTests.ts";
import { temporaryDirectory } from "../../helpers/repository/repository.ts";

it("tests of Go are known by their packages, whatever links the work has among its files", () => {
  const work = temporaryDirectory();
  writeFileSync(join(work, "go.mod"), "module example.com/calc\n");
  writeFileSync(
    join(work, "calc_test.go"),
    "func TestAdds(t *testing.T) {}\nfunc Testify(t *testing.T) {}\n",
  );
  symlinkSync("loop_test.go", join(work, "loop_test.go"));
  symlinkSync("missing", join(work, "missing_test.go"));
  symlinkSync("/dev/zero", join(work, "endless_test.go"));
  const inner = join(work, "inner");
  mkdirSync(inner);
  symlinkSync("/dev/zero", join(inner, "go.mod"));
  writeFileSync(join(inner, "inner_test.go"), "func TestMore(t *testing.T) {}\n");
  expect([...knownGoTests(work)]).toEqual([
    ["example.com/calc", ["TestAdds"]],
    ["example.com/calc/inner", ["TestMore"]],
  ]);
});

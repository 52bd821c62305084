import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import { builtCli } from "../../helpers/built.ts";
import { temporaryDirectory } from "../../helpers/repository/repository.ts";
import { pathWithBroken } from "../fixtures.ts";

const DEMO = join(import.meta.dirname, "../../../scripts/demo.mjs");

test("the demo works without a sandbox and without a git identity, and is readable at 80 columns", () => {
  builtCli();
  const directory = temporaryDirectory();
  const output = execFileSync(process.execPath, [DEMO], {
    encoding: "utf8",
    env: {
      ...process.env,
      PATH: pathWithBroken("docker", "podman", "bwrap"),
      HOME: directory,
      XDG_CONFIG_HOME: directory,
      TMPDIR: directory,
    },
  });
  for (const words of [
    "Branch agent/add-farewell, 1 commit",
    "There is no farewell yet.",
    '+echo "Goodbye, $1!"',
    "the whole run",
    ".sanddune/logs/",
    "rm -rf ",
  ]) {
    expect(output).toContain(words);
  }
  // Paths are as long as the temporary directory's name wants them to be.
  const tooLong = output.split("\n").filter((line) => line.length > 80 && !line.includes(directory));
  expect(tooLong).toEqual([]);
});

import { cpSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { temporaryDirectory } from "../../helpers/repository/repository.ts";
import { describeWith } from "../../helpers/runtimes/runtimes.ts";
import { runCli } from "../callCli.ts";
import { typeCommands } from "../fixtures.ts";

const ROOT = join(import.meta.dirname, "../../..");

it("makes a report of a first scenario with three commands, as they stand in the documents", () => {
  const cwd = temporaryDirectory();
  const [, section = ""] = readFileSync(join(ROOT, "docs/scenarios.md"), "utf8").split("## The first one");
  const commands = /^```sh\n(.*?)^```$/ms.exec(section)?.[1] ?? "";
  const { status, stdout, stderr } = typeCommands(cwd, commands);
  expect({ status, stderr }).toMatchObject({ status: 0 });
  expect(stdout).toContain("1 passing, 0 failing, 0 manual");
  expect(existsSync(join(cwd, "scenario-report.html"))).toBe(true);
});

const suiteOfDocuments = (): string => {
  const cwd = temporaryDirectory();
  cpSync(join(ROOT, "docs/examples/greeter"), cwd, { recursive: true });
  return cwd;
};

it("executes the suite of the documents by its tool, from its mirror", async () => {
  const result = await runCli(["scenario", "run", "--config", "scenarios.json"], { cwd: suiteOfDocuments() });
  expect(result).toMatchObject({ exitCode: 0 });
  expect(result.stdout).toContain("2 passing, 0 failing, 0 manual");
});

/** Follows its instructions, and spoils what it is graded with. */
const AGENT = `
site=$(sed -n 's/.*fetch source files from \\([^ ]*\\) .*/\\1/p')
node -e 'fetch(process.argv[1]).then((r) => r.text()).then((t) => require("fs").writeFileSync("greeting.txt", t))' \\
  "$site/greeting.txt"
echo 'process.exit(1)' > check.mjs`;

describeWith(["bubblewrap"], "the suite of the documents", () => {
  it("is done by an agent as well, which cannot change how it is graded", async () => {
    const result = await runCli(
      [
        ...["scenario", "run", "--config", "scenarios.json", "--runnable=agent", "--json"],
        ...["--sandbox", "bubblewrap", "--agent-command", AGENT],
      ],
      { cwd: suiteOfDocuments() },
    );
    expect(result).toMatchObject({ exitCode: 0 });
    const [record] = JSON.parse(result.stdout).records;
    expect(record).toMatchObject({ test_id: "install-node", result: "passing" });
    expect(record.notes).toContain("check.mjs");
  });
});

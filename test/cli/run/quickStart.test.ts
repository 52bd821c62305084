import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { leftovers } from "../../helpers/processes/leftovers.ts";
import { git, temporaryRepository } from "../../helpers/repository/repository.ts";
import { describeWith } from "../../helpers/runtimes/runtimes.ts";
import { typeCommands } from "../fixtures.ts";

const ROOT = join(import.meta.dirname, "../../..");

/** What a reader of the section types: its first block of commands. */
const commandsOf = (page: string, section: string): string => {
  const text = readFileSync(join(ROOT, page), "utf8").split(section)[1] ?? "";
  const fenced = /^```sh\n(.*?)^```$/ms.exec(text)?.[1];
  const indented = /^(?: {4}.*\n)+/m.exec(text)?.[0];
  return (page.startsWith("docs/") ? fenced : indented) ?? "";
};

describeWith(["bubblewrap"], "the quick start", () => {
  it.each([
    {
      page: "docs/quick-start.md",
      section: "## Without a key",
      next: "## What is running, and what is left?",
      branch: "agent/greeting",
    },
    {
      page: "README.md",
      section: "You can try it without an API key",
      next: undefined,
      branch: "agent/hello",
    },
  ])("ends with a commit on a branch, as it stands in $page", ({ page, section, next, branch }) => {
    const cwd = temporaryRepository();
    const { status, stdout, stderr } = typeCommands(cwd, commandsOf(page, section));
    expect({ status, stderr }).toMatchObject({ status: 0 });
    expect(stdout).toContain("+++ b/HELLO.md");
    expect(git(cwd, "log", "--format=%s", `main..${branch}`)).toBe("Say hello");
    expect(git(cwd, "branch", "--show-current")).toBe("main");

    if (next === undefined) return;
    const after = typeCommands(cwd, commandsOf(page, next));
    expect({ status: after.status, stderr: after.stderr }).toMatchObject({ status: 0 });
    expect(after.stdout).toMatch(new RegExp(`succeeded .*${branch}`));
    expect(leftovers(cwd)).toEqual([]);
  });
});

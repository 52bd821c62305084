import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, it } from "vitest";
import { builtCli } from "../helpers/built.ts";
import { leftovers } from "../helpers/leftovers.ts";
import { git, temporaryRepository } from "../helpers/repository.ts";
import { describeWith } from "../helpers/runtimes.ts";

const ROOT = join(import.meta.dirname, "../..");

/** What a reader of the section types: its first block of commands. */
const commandsOf = (page: string, section: string): string => {
  const text = readFileSync(join(ROOT, page), "utf8").split(section)[1] ?? "";
  const fenced = /^```sh\n(.*?)^```$/ms.exec(text)?.[1];
  const indented = /^(?: {4}.*\n)+/m.exec(text)?.[0];
  return (page.startsWith("docs/") ? fenced : indented) ?? "";
};

/** A repository with sanddune installed in it. */
const repositoryOfReader = (): string => {
  const cwd = temporaryRepository();
  mkdirSync(join(cwd, "node_modules/.bin"), { recursive: true });
  symlinkSync(builtCli(), join(cwd, "node_modules/.bin/sanddune"));
  return cwd;
};

const type = (cwd: string, commands: string) =>
  spawnSync("bash", ["-ec", commands], { cwd, encoding: "utf8" });

describeWith(["bubblewrap"], "the quick start", () => {
  beforeAll(() => {
    builtCli();
  });

  it.each([
    { page: "docs/quick-start.md", section: "## Without a key" },
    { page: "README.md", section: "No key at hand?" },
  ])("ends with a commit on a branch, as it stands in $page", ({ page, section }) => {
    const cwd = repositoryOfReader();
    const { status, stdout, stderr } = type(cwd, commandsOf(page, section));
    expect({ status, stderr }).toMatchObject({ status: 0 });
    expect(stdout).toContain("+++ b/HELLO.md");
    expect(git(cwd, "log", "--format=%s", "main..agent/hello")).toBe("Say hello");
    expect(git(cwd, "branch", "--show-current")).toBe("main");

    const after = type(cwd, commandsOf("docs/quick-start.md", "## What is running, and what is left?"));
    expect({ status: after.status, stderr: after.stderr }).toMatchObject({ status: 0 });
    expect(after.stdout).toMatch(/succeeded .*agent\/hello/);
    expect(leftovers(cwd)).toEqual([]);
  });
});

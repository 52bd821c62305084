import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { text } from "node:stream/consumers";
import { expect } from "vitest";
import { templates } from "../../../src/init/templates.ts";
import { runCli } from "../../cli/callCli.ts";
import type { CliResult } from "../../cli/startCli.ts";
import { linkPackage } from "../../helpers/linkPackage.ts";
import { git, temporaryDirectory, temporaryRepository } from "../../helpers/repository/repository.ts";
import { writeFiles } from "../../helpers/repository/writeFiles.ts";
import { AGENTS } from "../../helpers/runtimes/runtimes.ts";

/** A Node that runs TypeScript by itself, as users have it. */
const NODE = join(AGENTS, "bin/node22");

/** A directory of every project. */
export const DEEP = "deep/below";

export interface Project {
  readonly directory: string;
  /**
   * Starts the main file, as it was made, with the PATH that package runners give it: at the top of the repository, or
   * in a directory in it.
   */
  start(from?: string): { readonly child: ChildProcess; readonly result: Promise<CliResult> };
  main(from?: string): Promise<CliResult>;
  /** Whether a program was run that is in the repository. */
  hasRunPlanted(): boolean;
}

export interface Backlog {
  readonly name: string;
  /** Gets the program into the sandbox, and the tasks to where it finds them, before everything is committed. */
  prepare(directory: string): void;
}

/** The list of the user's own. */
const taskList = (template: string, tasks: readonly string[]): Backlog => ({
  name: "none",
  prepare: (directory) => {
    if (!templates[template as keyof typeof templates].hasTasks) return;
    const list = tasks.map((id) => `## ${id}: Write ${id}\n\nA file has to be written.\n`).join("\n");
    writeFileSync(join(directory, ".sanddune/tasks.md"), `# Tasks\n\n${list}`);
  },
});

/** A project with a dependency that needs no registry. The agent refuses to do anything where it is not installed. */
const PACKAGES = {
  "tiny/package.json": JSON.stringify({ name: "tiny", version: "1.0.0" }),
  "tiny/index.js": "",
  "package.json": JSON.stringify({ dependencies: { tiny: "file:tiny" } }),
  "package-lock.json": JSON.stringify({
    lockfileVersion: 3,
    packages: {
      "": { dependencies: { tiny: "file:tiny" } },
      "node_modules/tiny": { resolved: "tiny", link: true },
      tiny: { version: "1.0.0" },
    },
  }),
};

/** A repository with the scaffold of a template, these tasks, and an agent that is a script. */
export const makeProject = async (
  template: string,
  tasks: readonly string[] | Backlog,
  sandbox: readonly string[] = ["--sandbox", "bubblewrap"],
): Promise<Project> => {
  const backlog = "name" in tasks ? tasks : taskList(template, tasks);
  const directory = temporaryRepository();
  copyFileSync(join(import.meta.dirname, "../fixtures/templateAgent.sh"), join(directory, "agent.sh"));
  writeFileSync(join(directory, ".gitignore"), "/node_modules\n");
  const bin = join(directory, "node_modules/.bin");
  for (const path of [bin, join(directory, DEEP)]) mkdirSync(path, { recursive: true });
  linkPackage(directory);
  writeFiles(directory, { ...PACKAGES, "node_modules/tiny/index.js": "" });
  writeFileSync(join(bin, "git"), '#!/bin/sh\ntouch "$0.ran"\nexit 1\n', { mode: 0o755 });
  const init = await runCli(
    [
      ...["init", "--template", template, "--backlog", backlog.name, "--no-build"],
      ...["--agent", "command", "--agent-command", "sh agent.sh", ...sandbox],
    ],
    { cwd: directory },
  );
  expect(init).toMatchObject({ exitCode: 0, stderr: "" });
  backlog.prepare(directory);
  git(directory, "add", ".");
  git(directory, "commit", "--quiet", "-m", "Set up sanddune");
  // What a process that is killed leaves there goes with it.
  const temporary = temporaryDirectory();
  const start = (from = ".") => {
    const cwd = join(directory, from);
    const main = join(relative(cwd, directory), ".sanddune/main.mts");
    const child = spawn(NODE, ["--disable-warning=ExperimentalWarning", main], {
      cwd,
      env: {
        ...process.env,
        PATH: `${bin}:node_modules/.bin:${process.env["PATH"]}`,
        TMPDIR: temporary,
      },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const result = Promise.all([once(child, "close"), text(child.stdout), text(child.stderr)]).then(
      ([[exitCode], stdout, stderr]): CliResult => ({ exitCode, stdout, stderr }),
    );
    return { child, result };
  };
  return {
    directory,
    start,
    main: (from) => start(from).result,
    hasRunPlanted: () => existsSync(join(bin, "git.ran")),
  };
};

export const subjects = (cwd: string, range = "HEAD"): string[] =>
  git(cwd, "log", "--reverse", "--no-merges", "--format=%s", range).split("\n").slice(2);

export const contents = (cwd: string, file: string): string => readFileSync(join(cwd, file), "utf8");

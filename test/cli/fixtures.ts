import { type SpawnSyncReturns, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { expect } from "vitest";
import { builtCli } from "../helpers/built.ts";
import { git, temporaryDirectory, temporaryRepository } from "../helpers/repository/repository.ts";

/** A repository with an `agent.sh` in it, which gets the prompt on its standard input. */
export const repositoryWithAgent = (script: string): string => {
  const path = temporaryRepository();
  writeFileSync(join(path, "agent.sh"), script);
  git(path, "add", ".");
  git(path, "commit", "--quiet", "-m", "Add the agent");
  return path;
};

/** Writes the prompt to a file and commits it. */
export const OBEDIENT_AGENT = `
cat > prompt.txt
git add . && git commit --quiet -m 'Do what was asked'
echo 'Done. <promise>COMPLETE</promise>'
`;

export const expectUntouched = (repository: string): void => {
  expect(existsSync(join(repository, ".sanddune"))).toBe(false);
  expect(existsSync(join(repository, ".git/sanddune"))).toBe(false);
  expect(git(repository, "for-each-ref", "--format=%(refname)")).toBe("refs/heads/main");
  expect(git(repository, "worktree", "list").split("\n")).toHaveLength(1);
  expect(git(repository, "status", "--porcelain")).toBe("");
};

/**
 * Types commands at a shell, in a directory where sanddune is installed. `npx` does what npm's does with a program that
 * is installed, and no more.
 */
export const typeCommands = (cwd: string, commands: string): SpawnSyncReturns<string> => {
  const programs = join(cwd, "node_modules/.bin");
  if (!existsSync(programs)) {
    mkdirSync(programs, { recursive: true });
    symlinkSync(builtCli(), join(programs, "sanddune"));
  }
  const bin = temporaryDirectory();
  writeFileSync(join(bin, "npx"), '#!/bin/sh\nexec "node_modules/.bin/$@"\n', { mode: 0o755 });
  const env = { ...process.env, PATH: `${bin}${delimiter}${process.env["PATH"]}` };
  return spawnSync("bash", ["-ec", commands], { cwd, env, encoding: "utf8" });
};

/** The PATH of this machine, but with programs on it that cannot be used. */
export const pathWithBroken = (...programs: readonly string[]): string => {
  const bin = temporaryDirectory();
  for (const program of programs) writeFileSync(join(bin, program), "#!/bin/sh\nexit 1\n", { mode: 0o755 });
  return `${bin}${delimiter}${process.env["PATH"]}`;
};

/** Subjects of a branch's commits, newest first. */
export const subjectsOf = (repository: string, branch: string): string[] =>
  git(repository, "log", "--format=%s", branch).split("\n");

/** Resolves once `condition` holds. */
export const until = async (what: string, condition: () => boolean, timeoutMs = 30_000): Promise<void> => {
  const deadline = Date.now() + timeoutMs;
  while (!condition()) {
    if (Date.now() > deadline) throw new Error(`Waited ${timeoutMs} ms in vain until ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
};

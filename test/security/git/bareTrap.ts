import { execFileSync } from "node:child_process";
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { shellQuote } from "../../../src/tools/shellQuote.ts";
import { git, temporaryDirectory, temporaryRepository } from "../../helpers/repository/repository.ts";
import { fireOnHost } from "./gitPayloads.ts";

/** A host with a canary, which programs of an agent's would make. */
export const prepareHost = (cwd = temporaryRepository()) => {
  const canaries = temporaryDirectory();
  return {
    cwd,
    fire: fireOnHost(join(canaries, "fired")),
    fired: () => readdirSync(canaries),
    forget: () => rmSync(join(canaries, "fired"), { force: true }),
  };
};

/**
 * Shell lines that make a directory of ordinary files which git takes for a bare repository. It has this repository's commits, and its
 * configuration runs a program for whatever git does in it: a monitor, filters for all files, hooks; its work tree is the
 * directory around it.
 */
export const bareTrap = (directory: string, fire: string): string =>
  [
    `git clone --quiet --bare . ${directory}`,
    `mkdir -p ${directory}/refs/heads ${directory}/info ${directory}/hooks`,
    `git rev-parse HEAD > ${directory}/refs/heads/topic`,
    `echo '* filter=evil' > ${directory}/info/attributes`,
    `for hook in post-checkout post-index-change reference-transaction; do printf '#!/bin/sh\\n%s\\n' ${shellQuote(fire)} > ${directory}/hooks/$hook; chmod +x ${directory}/hooks/$hook; done`,
    ...Object.entries({
      "core.bare": "false",
      "core.worktree": "..",
      "core.fsmonitor": `${fire}; :`,
      "filter.evil.clean": `${fire}; cat`,
      "filter.evil.smudge": `${fire}; cat`,
    }).map(([key, value]) => `git config --file ${directory}/config ${key} ${shellQuote(value)}`),
  ].join("\n");

/** What a user does, or the prompt of a shell does for the user. */
export const useGitIn = (path: string): void => {
  for (const args of [
    ["status"],
    ["add", "."],
    ["worktree", "add", "--force", join(temporaryDirectory(), "w"), "topic"],
  ]) {
    try {
      execFileSync("git", args, { cwd: path, stdio: "ignore" });
    } catch {
      // Whether it succeeds is not the question.
    }
  }
};

/** A repository of a user who has merged the trap, in `pkg`. */
export const repositoryWithTrap = () => {
  const host = prepareHost();
  execFileSync("sh", ["-ec", bareTrap("pkg", host.fire)], { cwd: host.cwd, stdio: "ignore" });
  git(host.cwd, "add", "--force", "pkg");
  git(host.cwd, "commit", "--quiet", "-m", "Trap");
  return { ...host, trap: join(host.cwd, "pkg") };
};

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { inspect } from "node:util";
import * as Effect from "effect/Effect";
import { expect, test, vi } from "vitest";
import { parseConfigList } from "../../src/git/configFile.ts";
import { HARDENED_ARGUMENTS, TIMEOUT_MS } from "../../src/git/git.ts";
import { readHostState } from "../../src/git/hostState.ts";
import { openRepository } from "../../src/git/repository.ts";
import { listWorktrees } from "../../src/git/worktrees/worktreeList.ts";
import { readWorktreeFiles } from "../../src/git/worktrees/worktreeListFiles.ts";
import { findProgram } from "../../src/process/hostPrograms.ts";
import { waitFor } from "../helpers/processes/waiting.ts";
import { gitCalls } from "../helpers/repository/gitCalls.ts";
import { git, temporaryDirectory, temporaryRepository } from "../helpers/repository/repository.ts";

const stateOf = (cwd: string) => Effect.runPromise(Effect.flatMap(openRepository(cwd), readHostState));

/** The worktrees as git lists them, and as its files say. */
const bothLists = async (cwd: string) => {
  const repository = await Effect.runPromise(openRepository(cwd));
  const { config } = await Effect.runPromise(readHostState(repository));
  return {
    listed: await Effect.runPromise(listWorktrees(cwd)),
    read: readWorktreeFiles(repository, config),
  };
};

test("HEAD is the branch that is checked out, with its commit", async () => {
  const cwd = temporaryRepository();
  git(cwd, "branch", "other");
  const { head } = await stateOf(cwd);
  expect(head).toEqual({ branch: "main", sha: git(cwd, "rev-parse", "HEAD") });
});

test("a detached HEAD has no branch", async () => {
  const cwd = temporaryRepository();
  git(cwd, "switch", "--quiet", "--detach");
  expect((await stateOf(cwd)).head).toEqual({ branch: undefined, sha: git(cwd, "rev-parse", "HEAD") });
});

test("HEAD on a symbolic branch is on the branch at the end of the chain", async () => {
  const cwd = temporaryRepository();
  git(cwd, "symbolic-ref", "refs/heads/alias", "refs/heads/main");
  git(cwd, "symbolic-ref", "HEAD", "refs/heads/alias");
  const { head, refs, worktrees } = await stateOf(cwd);
  expect(head.branch).toBe("main");
  expect(refs.map(({ name }) => name)).toEqual(["refs/heads/main"]);
  expect(worktrees).toEqual([{ path: cwd, branch: "main" }]);
});

test("a branch named HEAD does not replace HEAD", async () => {
  const cwd = temporaryRepository();
  git(cwd, "update-ref", "refs/heads/HEAD", "HEAD");
  expect((await stateOf(cwd)).head.branch).toBe("main");
});

test("a repository without a commit is refused", async () => {
  const cwd = temporaryDirectory();
  git(cwd, "init", "--quiet");
  await expect(stateOf(cwd)).rejects.toMatchObject({ name: "UnsupportedRepositoryError" });
});

test("the files of linked worktrees give git's own list, from every checkout", async () => {
  const cwd = temporaryRepository();
  const linked = temporaryDirectory();
  git(cwd, "worktree", "add", "--quiet", "-b", "topic/one", join(linked, "b"));
  git(cwd, "worktree", "add", "--quiet", "--detach", join(linked, "a"));
  for (const checkout of [cwd, join(linked, "a")]) {
    const { listed, read } = await bothLists(checkout);
    expect(read).toEqual(listed);
    expect(read).toHaveLength(3);
  }
});

test.each([
  ["a half-made worktree", (admin: string) => writeFileSync(join(admin, "HEAD"), "")],
  ["a relative path", (admin: string) => writeFileSync(join(admin, "gitdir"), "../../../a/.git\n")],
])("git is asked about %s", async (_, damage) => {
  const cwd = temporaryRepository();
  git(cwd, "worktree", "add", "--quiet", "--detach", join(temporaryDirectory(), "a"));
  const repository = await Effect.runPromise(openRepository(cwd));
  const { config } = await Effect.runPromise(readHostState(repository));
  damage(join(cwd, ".git/worktrees/a"));
  expect(readWorktreeFiles(repository, config)).toBeUndefined();
});

const hardened = new Set(
  HARDENED_ARGUMENTS.map((setting) => setting.replace(/^[^=]+/, (key) => key.toLowerCase())),
);

/** Both configurations, without the settings that every git of sanddune gets as arguments. */
const bothConfigs = async (cwd: string) => {
  const { config } = await stateOf(cwd);
  return {
    read: config.filter((entry) => !hardened.has(entry.join("="))),
    listed: parseConfigList(git(cwd, "config", "--list", "-z")),
  };
};

test("the configuration is git's own, with its order, its repetitions and whatever is in its values", async () => {
  const cwd = temporaryRepository();
  const value = 'a "b" \\ c\n\td = \u00e4\u2028 {"event":"def_param"}\u0007 ';
  git(cwd, "config", "x.Sub Section/*.Key", value);
  git(cwd, "config", "--add", "remote.origin.url", "https://user:secret@example.com/a.git");
  git(cwd, "config", "--add", "remote.origin.fetch", "+refs/heads/a:refs/remotes/origin/a");
  git(cwd, "config", "--add", "remote.origin.fetch", "+refs/heads/b:refs/remotes/origin/b");
  git(cwd, "config", "x.empty", "");
  writeFileSync(join(cwd, ".git/always"), "[x]\n\tincluded = here\n");
  writeFileSync(join(cwd, ".git/onMain"), "[x]\n\tincluded = onMain\n");
  writeFileSync(join(cwd, ".git/onOther"), "[x]\n\tincluded = onOther\n");
  git(cwd, "config", "include.path", "always");
  git(cwd, "config", "includeIf.onbranch:main.path", "onMain");
  git(cwd, "config", "includeIf.onbranch:other.path", "onOther");
  git(cwd, "config", `includeIf.gitdir:${cwd}/.path`, "onMain");
  const { read, listed } = await bothConfigs(cwd);
  expect(read).toEqual(listed);
  expect(read).toContainEqual(["x.Sub Section/*.key", value]);
});

test("the configuration is read by one process together with the refs", async () => {
  const cwd = temporaryRepository();
  const calls = gitCalls();
  await stateOf(cwd);
  expect(calls.started()).toEqual(["rev-parse", "for-each-ref"]);
});

test("no trace of the user's has the configuration, which may hold passwords", async () => {
  const cwd = temporaryRepository();
  const home = temporaryDirectory();
  const targets = ["normal", "perf", "event"].map((format) => {
    const path = join(home, format);
    git(cwd, "config", "--file", join(home, ".gitconfig"), `trace2.${format}Target`, path);
    return path;
  });
  git(cwd, "config", "--file", join(home, ".gitconfig"), "http.extraHeader", "Authorization: hunter2");
  vi.stubEnv("HOME", home);
  const { config } = await stateOf(cwd).finally(() => vi.unstubAllEnvs());
  expect(config).toContainEqual(["http.extraheader", "Authorization: hunter2"]);
  const traced = targets.filter((path) => existsSync(path));
  expect(traced).not.toEqual([]);
  for (const path of traced) expect(readFileSync(path, "utf8")).not.toContain("hunter2");
});

test("a setting without a value is true, where git cannot trace it either", async () => {
  const cwd = temporaryRepository();
  writeFileSync(join(cwd, ".git/config"), `${readFileSync(join(cwd, ".git/config"))}[x]\n\tisSet\n`);
  const { config, head } = await stateOf(cwd);
  expect(config).toContainEqual(["x.isset", "true"]);
  expect(head.sha).toBe(git(cwd, "rev-parse", "HEAD"));
});

test("the configuration of a single worktree counts too", async () => {
  const cwd = temporaryRepository();
  git(cwd, "config", "extensions.worktreeConfig", "true");
  git(cwd, "config", "--worktree", "core.sparseCheckout", "true");
  const { read, listed } = await bothConfigs(cwd);
  expect(read).toEqual(listed);
  expect(read).toContainEqual(["core.sparsecheckout", "true"]);
});

test("the error of a failing disk does not show the configuration", async () => {
  const cwd = temporaryRepository();
  git(cwd, "config", "http.extraHeader", "Authorization: hunter2");
  const repository = await Effect.runPromise(openRepository(cwd));
  // Git quotes the line, so its message is that of a failing disk.
  writeFileSync(join(cwd, ".git/packed-refs"), "broken: Input/output error\n");
  const failure = await Effect.runPromise(Effect.flip(readHostState(repository)));
  expect(failure).toMatchObject({ name: "HostFileError" });
  expect(inspect(failure, { depth: 9 })).not.toContain("hunter2");
});

test("the error of a git that hangs does not show the configuration", async () => {
  const cwd = temporaryRepository();
  git(cwd, "config", "http.extraHeader", "Authorization: hunter2");
  const repository = await Effect.runPromise(openRepository(cwd));
  const programs = temporaryDirectory();
  const script = `#!/bin/sh\n'${findProgram("git")}' "$@"\ntouch '${programs}/listed'\nexec sleep 600\n`;
  writeFileSync(join(programs, "git"), script, { mode: 0o755 });
  vi.stubEnv("PATH", `${programs}:${process.env["PATH"]}`);
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  try {
    const failing = Effect.runPromise(Effect.flip(readHostState(repository)));
    await waitFor(() => existsSync(join(programs, "listed")));
    vi.advanceTimersByTime(TIMEOUT_MS);
    const failure = await failing;
    expect(failure).toMatchObject({ name: "ProcessTimeoutError", program: "git" });
    expect(inspect(failure, { depth: 9 })).not.toContain("hunter2");
  } finally {
    vi.useRealTimers();
    vi.unstubAllEnvs();
  }
});

test("a git that cannot list the refs fails with its own words only", async () => {
  const cwd = temporaryRepository();
  const repository = await Effect.runPromise(openRepository(cwd));
  writeFileSync(join(cwd, ".git/packed-refs"), "broken\n");
  const failure = await Effect.runPromise(Effect.flip(readHostState(repository)));
  expect(failure.message).toContain("fatal: ");
  expect(failure.message).not.toContain("def_param");
});

import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { runAtBoundary } from "../../../../src/boundary/boundary.ts";
import { SANDBOX_PACKING_FILE } from "../../../../src/git/sandboxDirectory/sandboxGitDirectory.ts";
import { readBundle } from "../../../../src/git/transfer/bundle/readBundle.ts";
import { exportFromSandbox } from "../../../../src/git/transfer/export/exportFromSandbox.ts";
import type { SandboxExport } from "../../../../src/git/transfer/export/fetchBundles.ts";
import { packingFile } from "../../../../src/git/transfer/export/packScript.ts";
import { takePackedExport, withPacking } from "../../../../src/git/transfer/export/piggybackOnExec.ts";
import { findProgram } from "../../../../src/process/hostPrograms.ts";
import { shellQuote } from "../../../../src/tools/shellQuote.ts";
import { localHandle } from "../../../helpers/repository/localHandle.ts";
import { git, temporaryDirectory, temporaryRepository } from "../../../helpers/repository/repository.ts";

// The step after a command reads short files itself, and gives up in rare cases. It must export what the host's own export does.

const COMMIT = "git commit --quiet --allow-empty -m Work";

/** More lines than the shell reads itself. */
const LENGTHEN_LOG = `${COMMIT}; line=$(tail -n 1 .git/logs/HEAD); for n in $(seq 50); do echo "$line"; done >>.git/logs/HEAD`;
const manyRefs = (count: number) =>
  `${COMMIT}; sha=$(git rev-parse HEAD); mkdir .git/refs/heads/d; for n in $(seq ${count}); do echo "$sha" >".git/refs/heads/d/$n"; done`;

/** What an agent does. `main` is the source branch. */
const AGENTS: Readonly<Record<string, string>> = {
  "does nothing": "true",
  commits: COMMIT,
  amends: `${COMMIT}; ${COMMIT} --amend -m Again`,
  "commits, and moves the branch back": `${COMMIT}; git reset --quiet --hard HEAD~1`,
  "commits to another branch": `git switch --quiet --create other; ${COMMIT}`,
  "tags a commit": `${COMMIT}; git tag v1; git tag -a -m Second v2`,
  "renames the branch": `${COMMIT}; git branch --move renamed`,
  "packs the refs": `${COMMIT}; git pack-refs --all`,
  "makes the branch a symbolic ref": `git switch --quiet --create other; ${COMMIT}; git symbolic-ref refs/heads/main refs/heads/other`,
  "makes a hundred branches": manyRefs(100),
  "makes more files than the shell looks at": manyRefs(400),
  "makes many commits": LENGTHEN_LOG,
  "leaves a commit on a detached HEAD": `git switch --quiet --detach; ${COMMIT}; git switch --quiet main`,
  "leaves one long ago": `git switch --quiet --detach; ${COMMIT}; git switch --quiet main; ${LENGTHEN_LOG}`,
  "leaves one after many commits": `${LENGTHEN_LOG}; git switch --quiet --detach; ${COMMIT}; git switch --quiet main`,
  "stashes twice": "echo 1 >>README.md; git stash --quiet; echo 2 >>README.md; git stash --quiet",
  "works in a worktree of its own": `git worktree add --quiet -b own wt; cd wt; git switch --quiet --detach; ${COMMIT}; git switch --quiet own; ${COMMIT}`,
  "stops in the middle of a rebase": `echo 1 >a; git add a; ${COMMIT}; git switch --quiet --create other HEAD~1; echo 2 >a; git add a; ${COMMIT}; echo 3 >>README.md; git rebase --quiet --autostash main`,
  "ends the log of HEAD in the middle of a line": `${COMMIT}; printf '%s' "$(cat .git/logs/HEAD)" >.git/logs/HEAD`,
  "empties the branch": `${COMMIT}; : >.git/refs/heads/main`,
  "points the branch to nothing": `${COMMIT}; printf '%040d\\n' 1 >.git/refs/heads/main`,
  "points the branch to a file": `${COMMIT}; git hash-object -w README.md >.git/refs/heads/main`,
  "writes more than a name into the branch": `${COMMIT}; printf '%s rest\\n' "$(git rev-parse HEAD)" >.git/refs/heads/main`,
  "leaves a bundle of its own": `${COMMIT}; mkdir .git/sanddune-export.bundle`,
  "puts a pipe among the refs": `${COMMIT}; mkfifo .git/refs/heads/pipe`,
  "links refs to elsewhere": `${COMMIT}; ln -s /etc/hostname .git/refs/heads/link`,
};

const SHELLS: Readonly<Record<string, string>> = {
  dash: findProgram("dash"),
  bash: findProgram("bash"),
  busybox: findProgram("busybox"),
};

/** Its command runs in that shell, and so do the shells that it starts. */
const handleWith = (shell: string, cwd: string, packing: string) => {
  const programs = temporaryDirectory();
  symlinkSync(shell, join(programs, "sh"));
  return localHandle(
    cwd,
    (command) =>
      `PATH=${shellQuote(programs)}:$PATH; export PATH; exec sh -c -- ${shellQuote(command.replaceAll(SANDBOX_PACKING_FILE, packing))}`,
  );
};

/** Refs that an export creates have other names each time. */
const comparable = async (exported: SandboxExport | undefined) => {
  if (exported === undefined || exported.source === "broken") return "left to the host";
  const heads = exported.bundlePath && readBundle(exported.bundlePath).heads;
  const named = [...(heads || [])].map(([name, sha]) => [name.replace(/export-[0-9a-f]{16}/, "export"), sha]);
  return {
    tip: exported.tip,
    source: exported.source,
    hasUnreadRefs: exported.hasUnreadRefs,
    heads: named.sort(),
  };
};

const scene = (shell: string) => {
  const cwd = temporaryRepository();
  const gitDirectory = join(cwd, ".git");
  const base = git(cwd, "rev-parse", "HEAD");
  writeFileSync(join(gitDirectory, "sanddune-known-commits"), `^${base}\n`);
  const packing = join(temporaryDirectory(), "pack");
  const sandbox = { handle: handleWith(shell, cwd, packing), gitDirectory, hostGitDirectory: gitDirectory };
  writeFileSync(packing, packingFile(sandbox, "main"));
  const pathOf = (name: string) => join(temporaryDirectory(), name);
  return {
    cwd,
    base,
    run: (agent: string, laterCommits: readonly string[] = []) =>
      withPacking(sandbox, () => laterCommits).exec(agent),
    take: () => runAtBoundary(takePackedExport(sandbox, pathOf("packed"))),
    direct: () =>
      runAtBoundary(
        exportFromSandbox(
          sandbox,
          { sourceBranch: "main", knownCommits: [base], timeoutMs: 30_000 },
          pathOf("direct"),
        ),
      ).catch(() => undefined),
  };
};

describe.each(Object.entries(SHELLS))("packing after a command, in %s", (_, shell) => {
  it.each(Object.entries(AGENTS))(
    "exports the same as the host's own export if the agent %s",
    async (_, agent) => {
      const { run, take, direct } = scene(shell);
      await run(agent);
      const packed = await comparable(await take());
      expect(packed).toEqual(await comparable(await direct()));
    },
  );
});

it("a commit that the host has imported since is not packed again", async () => {
  const { cwd, run, take } = scene(SHELLS["dash"] ?? "");
  await run(COMMIT);
  const imported = git(cwd, "rev-parse", "HEAD");
  await run(COMMIT, [imported]);
  const exported = await take();
  expect(readBundle(exported?.bundlePath ?? "").prerequisites).toEqual([imported]);
  await run("true", [imported, exported?.tip ?? ""]);
  expect(await take()).toMatchObject({ tip: exported?.tip, bundlePath: undefined });
});

it("the bundle of an earlier command is not taken for one of a command that commits nothing", async () => {
  const { base, run, take } = scene(SHELLS["dash"] ?? "");
  await run(COMMIT);
  await run(`git reset --quiet --hard ${base}; mkdir -p .git/sanddune-checkpoints.bundle`);
  expect(await take()).toMatchObject({ tip: base, bundlePath: undefined, checkpointsPath: undefined });
});

it("the lock of a bundle, which git leaves when it is killed after its time, keeps no later commit back", async () => {
  const { cwd, run, take, direct } = scene(SHELLS["dash"] ?? "");
  const lock = "touch .git/sanddune-export.bundle.lock";
  await run(`${COMMIT}; ${lock}`);
  const tip = git(cwd, "rev-parse", "HEAD");
  expect(await take()).toMatchObject({ tip, bundlePath: expect.any(String) });
  await run("true");
  execFileSync("sh", ["-c", lock], { cwd });
  expect(await direct()).toMatchObject({ tip, bundlePath: expect.any(String) });
});

it.each(Object.values(SHELLS))(
  "a pipe in the place of the report does not stop the command, in %s",
  async (shell) => {
    const { run, take, direct } = scene(shell);
    await run(`${COMMIT}; mkfifo .git/sanddune-export.report`);
    expect(await take()).toBeUndefined();
    expect(await direct()).toBeDefined();
  },
);

it("a program of git that hangs is ended, and the host exports itself", async () => {
  const { cwd, run, take } = scene(SHELLS["dash"] ?? "");
  mkdirSync(join(cwd, ".git/objects/info"), { recursive: true });
  await run(`${COMMIT}; mkfifo .git/objects/info/commit-graph .git/objects/info/alternates`);
  expect(await take()).toBeUndefined();
}, 60_000);

import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { runAtBoundary } from "../../../src/boundary/boundary.ts";
import { importCommits } from "../../../src/git/transfer/import/importCommits.ts";
import {
  type ExecOptions,
  ImportRefusedError,
  type SandboxProvider,
  type ScriptedStep,
} from "../../../src/index.ts";
import { git, temporaryDirectory, temporaryRepository } from "../../helpers/repository/repository.ts";
import {
  describeInBoth,
  failureOf,
  play,
  SANDBOXES,
  type SandboxName,
  STRATEGIES,
  shell,
  userRefs,
} from "../support.ts";

const RUN_ID = "20000101-000000-abcdef";

/** Writes the bytes `printf` makes as an object of any shape, and commits it as the tree. */
const commitTree = (entry: string): string =>
  [
    "blob=$(echo evil | git hash-object -w --stdin)",
    `inner=$(printf '100644 blob %s\\tconfig\\n' $blob | git mktree)`,
    "bytes() { printf \"$(echo $1 | sed 's/../\\\\x&/g')\"; }".replace("printf", "/usr/bin/printf"),
    `tree=$({ printf '${entry}\\0'; bytes ${/^40000/.test(entry) ? "$inner" : "$blob"}; } | git hash-object -w -t tree --literally --stdin)`,
    "git update-ref HEAD $(git commit-tree -p HEAD -m Evil $tree)",
  ].join("\n");

const MALFORMED_TREES = {
  "the directory .git": commitTree("40000 .git"),
  "the directory .GIT": commitTree("40000 .GIT"),
  "the directory git~1": commitTree("40000 git~1"),
  "the file .git": commitTree("100644 .git"),
  "the directory ..": commitTree("40000 .."),
  "the directory .": commitTree("40000 ."),
  "a name with a slash": commitTree("100644 a/b"),
  "a name with .git and a zero-width character": commitTree("40000 .g\\342\\200\\214it"),
  "a symbolic link called .gitmodules": commitTree("120000 .gitmodules"),
};

const MALFORMED_OBJECTS = {
  "a commit without an author": `tree=$(git rev-parse HEAD^{tree}); git update-ref HEAD $(printf 'tree %s\\nparent %s\\n\\nx\\n' $tree $(git rev-parse HEAD) | git hash-object -w -t commit --literally --stdin)`,
  "a .gitmodules whose URL runs a command": `printf '[submodule "x"]\\n\\tpath = x\\n\\turl = -u./payload\\n' > .gitmodules; git add .gitmodules; git commit -q -m Modules`,
  "a submodule name that leaves the git directory": `printf '[submodule "../../x"]\\n\\tpath = x\\n\\turl = https://example.invalid\\n' > .gitmodules; git add .gitmodules; git commit -q -m Modules`,
};

/** Leaves a bundle of the agent's making where the export would leave its own: a `git` of its own does the packing. */
const forgedBundle = (make: string): string =>
  [
    `mkdir -p "$HOME/bin"`,
    `cat > "$HOME/bin/git" <<'END'`,
    "#!/bin/sh",
    "REAL=/usr/bin/git",
    'case "$1 $2" in "bundle create")',
    '  for bundle; do case "$bundle" in *sanddune-export.bundle) break;; esac; done',
    make,
    "  exit 0;;",
    "esac",
    'exec $REAL "$@"',
    "END",
    `chmod +x "$HOME/bin/git"`,
  ].join("\n");

const BASE_HEADER = `tip=$($REAL rev-parse HEAD); base=$($REAL rev-parse HEAD~1); branch=$($REAL symbolic-ref HEAD)`;
const FORGED_BUNDLES = {
  nonsense: 'echo nonsense > "$bundle"',
  "an empty file": ': > "$bundle"',
  "a header without a pack": `${BASE_HEADER}; printf '# v2 git bundle\\n-%s\\n%s %s\\n\\n' $base $tip $branch > "$bundle"`,
  "a pack that ends early": `${BASE_HEADER}; $REAL bundle create -q "$bundle.whole" $branch ^$base; head -c $(($(stat -c %s "$bundle.whole") - 30)) "$bundle.whole" > "$bundle"`,
  "a pack with a flipped bit": `${BASE_HEADER}; $REAL bundle create -q "$bundle" $branch ^$base; size=$(stat -c %s "$bundle"); printf '\\377' | dd of="$bundle" bs=1 seek=$((size - 25)) conv=notrunc 2>/dev/null`,
  "a pack without the objects that it needs": `${BASE_HEADER}; { printf '# v2 git bundle\\n-%s\\n%s %s\\n\\n' $base $tip $branch; echo $tip | $REAL pack-objects --stdout -q; } > "$bundle"`,
  "a filtered pack that calls the missing objects promised": `${BASE_HEADER}; { printf '# v3 git bundle\\n@object-format=sha1\\n@filter=blob:none\\n-%s\\n%s %s\\n\\n' $base $tip $branch; echo $tip | $REAL pack-objects --stdout -q; } > "$bundle"`,
  "a prerequisite that nobody has": `${BASE_HEADER}; printf '# v2 git bundle\\n-%s\\n%s %s\\n\\n' 1111111111111111111111111111111111111111 $tip $branch > "$bundle"`,
};

/** These are no files: they do not even come out of the sandbox. */
const NO_BUNDLES = {
  "a symbolic link to a host's file": 'ln -s /etc/passwd "$bundle"',
  "a FIFO": 'mkfifo "$bundle"',
  "a directory": 'mkdir "$bundle"',
};

/** A sandbox, as an image could be, in which the agent has put a `git` of its own before the real one. */
const sandboxWithAgentsOwnGit = (name: SandboxName): SandboxProvider => {
  const provider = SANDBOXES[name]();
  const ownGit = 'export PATH="$HOME/bin:$PATH"';
  return {
    ...provider,
    create: async (options: never) => {
      const handle = await provider.create(options);
      return {
        ...handle,
        exec: (command: string, more?: ExecOptions) => handle.exec(`${ownGit}\n${command}`, more),
      };
    },
  } as SandboxProvider;
};

const WORK: ScriptedStep = { commit: "Honest work", files: { "honest.txt": "honest\n" } };

/** What an agent has made of its repository, and the bundle that it hands over: the pack is whatever `pack` makes. */
const agentsRepository = (cwd: string, script: string, pack?: string) => {
  const copy = join(temporaryDirectory(), "copy");
  git(cwd, "clone", "--quiet", "--branch=agent/work", cwd, copy);
  const bundlePath = join(temporaryDirectory(), "bundle");
  const packing = pack ?? `$REAL bundle create -q "$bundle" agent/work ^origin/main`;
  const identity =
    "export GIT_AUTHOR_NAME=A GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=A GIT_COMMITTER_EMAIL=a@b";
  execFileSync("sh", ["-c", `${identity}\n${script}\nREAL=git; bundle=${bundlePath}\n${packing}`], {
    cwd: copy,
    stdio: "ignore",
  });
  return { tip: git(copy, "rev-parse", "HEAD"), bundlePath };
};

/** Brings it home, as a run does. */
const bringHome = async (cwd: string, { tip, bundlePath }: { tip: string; bundlePath: string }) => {
  const base = git(cwd, "rev-parse", "main");
  const target = { cwd, runId: RUN_ID, branch: "agent/work", base, expectedTip: base, allowsRewrite: true };
  const nothing = { checkpointsPath: undefined, uncommitted: undefined, leftBehind: [] };
  return runAtBoundary(importCommits(target, { tip, bundlePath, ...nothing })).catch(
    (error: unknown) => error as ImportRefusedError,
  );
};

const prepare = (): string => {
  const cwd = temporaryRepository();
  git(cwd, "branch", "agent/work");
  return cwd;
};

const HONEST = "echo honest > honest.txt; git add .; git commit -q -m Honest";

it("control: what is sound is taken over", async () => {
  const cwd = prepare();
  const brought = agentsRepository(cwd, HONEST);
  expect(await bringHome(cwd, brought)).toMatchObject({ tip: brought.tip });
  expect(git(cwd, "rev-parse", "agent/work")).toBe(brought.tip);
});

it.each(Object.entries({ ...MALFORMED_TREES, ...MALFORMED_OBJECTS }))(
  "%s is refused: no ref moves, the bundle is kept",
  async (_, script) => {
    const cwd = prepare();
    const before = userRefs(cwd);
    const brought = agentsRepository(cwd, script);
    expect(brought.tip).not.toBe(git(cwd, "rev-parse", "main"));
    const error = await bringHome(cwd, brought);
    expect(error).toBeInstanceOf(ImportRefusedError);
    expect(error).toMatchObject({ bundlePath: brought.bundlePath });
    expect(brought.bundlePath).toSatisfy(existsSync);
    expect(userRefs(cwd)).toBe(before);
    git(cwd, "fsck", "--strict");
  },
);

it.each(Object.entries(FORGED_BUNDLES))("a bundle that is %s is refused: no ref moves", async (_, pack) => {
  const cwd = prepare();
  const before = userRefs(cwd);
  expect(await bringHome(cwd, agentsRepository(cwd, HONEST, pack))).toBeInstanceOf(ImportRefusedError);
  expect(userRefs(cwd)).toBe(before);
  git(cwd, "fsck", "--strict", "--connectivity-only");
});

it("a bundle that also names a commit that does not exist moves the branch and says so, or does not move it", async () => {
  const cwd = prepare();
  const pack = `${BASE_HEADER}; $REAL bundle create -q "$bundle.whole" $branch ^$base; { head -n 1 "$bundle.whole"; printf -- '-%s\n%s %s\n%s refs/heads/other\n\n' $base $tip $branch 1111111111111111111111111111111111111111; printf '%s\n' "^$base" $tip | $REAL pack-objects --revs --stdout -q; } > "$bundle"`;
  const ended = await bringHome(cwd, agentsRepository(cwd, HONEST, pack));
  const tip = git(cwd, "rev-parse", "agent/work");
  if (ended instanceof Error) expect(ended).toBeInstanceOf(ImportRefusedError);
  expect(tip).toBe(ended instanceof Error ? git(cwd, "rev-parse", "main") : ended.tip);
});

describeInBoth("what a run cannot import", (name) => {
  it("is refused if it is malformed: no ref moves, and bundle and worktree are kept", async () => {
    const cwd = temporaryRepository();
    const steps = [shell(MALFORMED_TREES["the directory .git"]), shell("echo dirty > dirty.txt")];
    const error = await failureOf(
      play(cwd, steps, { branchStrategy: STRATEGIES.branch, sandbox: SANDBOXES[name]() }),
    );
    expect(error).toBeInstanceOf(ImportRefusedError);
    expect((error as ImportRefusedError).bundlePath).toSatisfy(existsSync);
    expect(git(cwd, "rev-parse", "agent/work")).toBe(git(cwd, "rev-parse", "main"));
    expect(error.preservedWorktreePath).toSatisfy(existsSync);
    git(cwd, "fsck", "--strict");
  });

  it.each(Object.entries(NO_BUNDLES))(
    "is refused if the bundle is %s: no ref moves, what the agent left is kept",
    async (_, make) => {
      const cwd = temporaryRepository();
      const before = userRefs(cwd);
      const error = await failureOf(
        play(cwd, [WORK, shell(forgedBundle(make)), shell("echo dirty > dirty.txt")], {
          branchStrategy: STRATEGIES.branch,
          sandbox: sandboxWithAgentsOwnGit(name),
        }),
      );
      expect(error.constructor.name).toMatch(/^(ImportRefusedError|SandboxError)$/);
      expect(error).toMatchObject({ commits: [], branch: "agent/work", iterations: [] });
      expect(error.runId).toBeDefined();
      expect(error.logFilePath).toSatisfy(existsSync);
      expect(error.preservedWorktreePath).toSatisfy(existsSync);
      expect(userRefs(cwd).replace(/^refs\/heads\/agent\/work .*\n/m, "")).toBe(before);
      expect(git(cwd, "rev-parse", "agent/work")).toBe(git(cwd, "rev-parse", "main"));
    },
  );
});

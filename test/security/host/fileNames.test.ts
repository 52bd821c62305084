import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { ScriptedStep } from "../../../src/index.ts";
import { git, temporaryRepository } from "../../helpers/repository/repository.ts";
import { describeWith } from "../../helpers/runtimes/runtimes.ts";
import { describeInBoth, play, SANDBOXES, STRATEGIES, shell } from "../support.ts";

/** Names as bytes, with the octal escapes that `printf` understands. */
const NAMES = [
  ["a newline", "new\\nline"],
  ["an escape", "esc\\033]0;title\\007"],
  ["invalid UTF-8", "invalid\\377\\376"],
  ["a trailing space", "trailing "],
  ["a leading dash", "-rf"],
  ["255 bytes", "n".repeat(255)],
  ["a quote and a dollar", "\\047$(touch canary)\\042"],
  ["unicode", "\\303\\274n\\303\\257-\\360\\237\\217\\234"],
  ["a tab and a backslash", "a\\tb\\\\\\\\c"],
] as const;

const bytes = (escaped: string): Buffer =>
  execFileSync("/usr/bin/printf", ["--", escaped.replaceAll("\\\\\\\\", "\\\\")]);
/** `printf` cannot keep a trailing newline in `$( )`, so the name is guarded by a last character that is cut off. */
const writing = (escaped: string, content: string): string =>
  `name=$(/usr/bin/printf -- '${escaped.replaceAll("\\\\\\\\", "\\\\")}x'); printf '%s' '${content}' > "./\${name%x}"`;

const listed = (directory: string): string[] =>
  readdirSync(Buffer.from(directory), { encoding: "buffer" }).map((name) => name.toString("latin1"));
const treeOf = (cwd: string, revision: string): string[] =>
  execFileSync("git", ["ls-tree", "-r", "-z", "--name-only", revision], { cwd })
    .toString("latin1")
    .split("\0")
    .filter(Boolean);

describeInBoth("file names", (name) => {
  const sandbox = SANDBOXES[name];
  const latin1 = NAMES.map(([, escaped]) => bytes(escaped).toString("latin1"));

  it("committed ones arrive byte by byte, and do not reach result or log as they are", async () => {
    const cwd = temporaryRepository();
    const result = await play(
      cwd,
      [
        shell(...NAMES.map(([, escaped]) => writing(escaped, "committed"))),
        shell("mkdir .husky; cd .husky", writing("evil\\033]0;title\\007", "x")),
        { commit: "Names" },
      ],
      { branchStrategy: STRATEGIES["merge-to-head"], sandbox: sandbox() },
    );
    expect(result.commits).toHaveLength(1);
    expect(
      treeOf(cwd, "main")
        .filter((file) => !file.startsWith(".husky/"))
        .sort(),
    ).toEqual(["README.md", ...latin1].sort());
    expect(listed(cwd).sort()).toEqual([".git", ".husky", ".sanddune", "README.md", ...latin1].sort());
    expect(git(cwd, "status", "--porcelain")).toBe("");
    expect(existsSync(join(cwd, "canary"))).toBe(false);
    expect(result.protectedPaths).toHaveLength(1);
    expect(readFileSync(result.logFilePath as string, "latin1")).not.toMatch(/[\x07\x1b]/);
    expect(result.warnings.join("")).not.toMatch(/[\x07\x1b]/);
  });

  it("uncommitted ones are kept byte by byte, also when the next run takes the worktree over", async () => {
    const cwd = temporaryRepository();
    const branchStrategy = STRATEGIES.branch;
    const uncommitted = shell(...NAMES.map(([, escaped]) => writing(escaped, "uncommitted")));
    const first = await play(cwd, [uncommitted], { branchStrategy, sandbox: sandbox() });
    const kept = first.preservedWorktreePath as string;
    expect(listed(kept).sort()).toEqual([".git", "README.md", ...latin1].sort());
    await play(cwd, [shell("echo more > more.txt")], { branchStrategy, sandbox: sandbox() });
    expect(listed(kept).sort()).toEqual([".git", "README.md", "more.txt", ...latin1].sort());
    for (const file of latin1) {
      expect(readFileSync(Buffer.from(`${kept}/${file}`, "latin1"), "utf8")).toBe("uncommitted");
    }
  });

  it("FIFOs, sockets, empty directories and unreadable files among them do not hang a run or lose a commit", async () => {
    const cwd = temporaryRepository();
    const branchStrategy = STRATEGIES.branch;
    const specials = shell(
      "mkfifo fifo; mkdir -p deep/er empty; mkfifo deep/er/fifo; echo x > locked; chmod 000 locked",
      "mkfifo .gitignore deep/.gitignore deep/.gitattributes",
      "python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind(\"socket\")' 2>/dev/null",
      "echo open > open.txt",
    );
    const { commits, warnings, preservedWorktreePath } = await play(
      cwd,
      [{ commit: "Work", files: { "work.txt": "w\n" } }, specials],
      { branchStrategy, sandbox: sandbox() },
    );
    expect(commits).toHaveLength(1);
    if (name === "bubblewrap")
      expect(warnings.filter((warning) => warning.includes("a pipe"))).toHaveLength(3);
    const open = join(preservedWorktreePath as string, "open.txt");
    expect(readFileSync(open, "utf8")).toBe("open\n");
    await play(cwd, [shell("echo again >> open.txt")], { branchStrategy, sandbox: sandbox() });
    expect(readFileSync(open, "utf8")).toBe("open\nagain\n");
  });

  it.each([
    [
      "nested repositories, and a file that a required filter cannot clean",
      "git init -q empty; echo x > empty/x.txt; git config filter.f.clean false; git config filter.f.required true; echo '*.bad filter=f' > .gitattributes; echo x > x.bad; git init -q nested; cd nested; echo x > x.txt; git add .; git -c user.name=a -c user.email=a@b commit -q -m x",
    ],
    ["an index that is locked", 'touch "$(git rev-parse --git-dir)/index.lock"; echo x > x.txt'],
    ["an index that is broken", 'echo broken > "$(git rev-parse --git-dir)/index"; echo x > x.txt'],
    ["a HEAD that points nowhere", "git symbolic-ref HEAD refs/heads/nowhere; echo x > x.txt"],
  ])("%s among the uncommitted files costs no commit", async (_, leave) => {
    const cwd = temporaryRepository();
    const ending = await play(cwd, [{ commit: "Work", files: { "work.txt": "w\n" } }, shell(leave)], {
      branchStrategy: STRATEGIES.branch,
      sandbox: sandbox(),
    }).catch((error: unknown) => error as { commits: unknown[] });
    expect(ending.commits).toHaveLength(1);
    expect(git(cwd, "show", "agent/work:work.txt")).toBe("w");
  });

  it("the files of a nested repository are not lost", async () => {
    const cwd = temporaryRepository();
    const nested =
      "git init -q nested; cd nested; echo x > x.txt; git add .; git -c user.name=a -c user.email=a@b commit -q -m x; echo y > y.txt";
    const result = await play(cwd, [shell(nested), shell("echo open > open.txt")], {
      branchStrategy: STRATEGIES.branch,
      sandbox: sandbox(),
    });
    const kept = result.preservedWorktreePath as string;
    const isThere = existsSync(join(kept, "nested/x.txt")) && existsSync(join(kept, "nested/y.txt"));
    expect(isThere || result.warnings.some((warning) => warning.includes("nested"))).toBe(true);
  });
});

describeWith(["bubblewrap"], "uncommitted files that another kind of sandbox has left", () => {
  it("are still there after the next run took the worktree over, back and forth", async () => {
    const cwd = temporaryRepository();
    const branchStrategy = STRATEGIES.branch;
    const latin1 = NAMES.map(([, escaped]) => bytes(escaped).toString("latin1"));
    const write = shell(...NAMES.map(([, escaped]) => writing(escaped, "uncommitted")));
    const steps = [write, shell("echo 1 > 1.txt"), shell("echo 2 > 2.txt")];
    const order = [SANDBOXES.bubblewrap(), SANDBOXES.isolated(), SANDBOXES.bubblewrap()];
    let kept: string | undefined;
    for (const [index, sandbox] of order.entries()) {
      const result = await play(cwd, [steps[index] as ScriptedStep], { branchStrategy, sandbox });
      kept = result.preservedWorktreePath;
    }
    expect(listed(kept as string).sort()).toEqual([".git", "1.txt", "2.txt", "README.md", ...latin1].sort());
  });
});

import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, readlinkSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { runAtBoundary } from "../../../src/boundary/boundary.ts";
import { parseConfigList } from "../../../src/git/configFile.ts";
import { openRepository } from "../../../src/git/repository.ts";
import { sendWorktree } from "../../../src/git/transfer/sendWorktree.ts";
import { openWorktreeFiles } from "../../../src/git/worktrees/worktreeFiles.ts";
import { SandboxError } from "../../../src/index.ts";
import { localHandle } from "../../helpers/repository/localHandle.ts";
import { git, temporaryDirectory, temporaryRepository } from "../../helpers/repository/repository.ts";
import { writeFiles } from "../../helpers/repository/writeFiles.ts";
import { commitFiles, statusOf } from "../commitFiles.ts";

const runId = "20300102-030405-abcdef";

/** A repository with a worktree of branch `agent/x`, and an empty sandbox. */
const scene = (cwd = temporaryRepository()) => {
  const path = join(temporaryDirectory(), "worktree");
  git(cwd, "worktree", "add", "--quiet", "-b", "agent/x", path);
  const filesDirectory = temporaryDirectory();
  const sandboxPath = join(temporaryDirectory(), "sand box");
  const baseSha = git(path, "rev-parse", "HEAD");
  git(cwd, "update-ref", `refs/sanddune/base/${runId}`, baseSha);
  const worktree = { path, branch: "agent/x", baseSha, isReused: false, isNewBranch: true };
  return {
    cwd,
    path,
    sandboxPath,
    inSandbox: (...args: string[]) => git(sandboxPath, ...args),
    files: async () => {
      const gitDirectory = git(path, "rev-parse", "--absolute-git-dir");
      return runAtBoundary(
        openWorktreeFiles(
          { path, gitDirectory, baseSha: git(path, "rev-parse", "HEAD") },
          join(filesDirectory, "index"),
        ),
      );
    },
    send: async ({
      uncommitted,
      prefix,
    }: {
      readonly uncommitted?: string | undefined;
      readonly prefix?: string;
    } = {}) => {
      const repository = await runAtBoundary(openRepository(cwd));
      const gitDirectory = git(path, "rev-parse", "--absolute-git-dir");
      return runAtBoundary(
        sendWorktree({
          repository: { ...repository, prefix: prefix ?? repository.prefix },
          worktree: { ...worktree, gitDirectory },
          targetBranch: "main",
          runId,
          filesDirectory,
          hostConfig: parseConfigList(git(cwd, "config", "--list", "-z")),
          handle: localHandle(sandboxPath),
          uncommitted,
        }),
      );
    },
  };
};

describe("a worktree that is sent to an isolated sandbox", () => {
  it("is a clean checkout of its branch there, with the history of the target branch", async () => {
    const { cwd, send, inSandbox, sandboxPath } = scene();
    const target = commitFiles(cwd, { "later.txt": "" });
    const sent = await send();
    expect(inSandbox("branch", "--format=%(refname:short)").split("\n")).toEqual(["agent/x", "main"]);
    expect(inSandbox("rev-parse", "main")).toBe(target);
    expect([inSandbox("branch", "--show-current"), statusOf(sandboxPath)]).toEqual(["agent/x", ""]);
    expect([...sent.commits].sort()).toEqual([target, inSandbox("rev-parse", "HEAD")].sort());
    expect(sent.warnings).toEqual([]);
    expect(existsSync(join(sandboxPath, ".git/sanddune-in.bundle"))).toBe(false);
  });

  it("has the user's identity, and none of the user's programs and credentials", async () => {
    const { cwd, send, inSandbox } = scene();
    git(cwd, "config", "core.pager", "evil");
    git(cwd, "remote", "add", "origin", "https://user:secret@example.com/x.git");
    await send();
    const config = inSandbox("config", "--local", "--list");
    expect(config).toContain("user.name=Dev");
    expect(config).toContain("remote.origin.url=https://example.com/x.git");
    expect(config).not.toMatch(/evil|secret/);
  });

  it("has what git ignores, with links as links, and ignores it there as well", async () => {
    const { cwd, path, send, sandboxPath } = scene();
    writeFileSync(join(cwd, ".git/info/exclude"), "modules\n*.local\n");
    writeFiles(path, { "modules/a/index.js": "1\n", "ä\n.local": "2\n" });
    symlinkSync("a/index.js", join(path, "modules/link"));
    await send();
    expect(readFileSync(join(sandboxPath, "modules/a/index.js"), "utf8")).toBe("1\n");
    expect(readFileSync(join(sandboxPath, "ä\n.local"), "utf8")).toBe("2\n");
    expect(readlinkSync(join(sandboxPath, "modules/link"))).toBe("a/index.js");
    expect(statusOf(sandboxPath)).toBe("");
  });

  it("lacks ignored files whose names are not text, and a warning names them", async () => {
    const { cwd, path, send } = scene();
    writeFileSync(join(cwd, ".git/info/exclude"), "*.local\n");
    execFileSync("sh", ["-c", "touch \"$(printf '\\377').local\""], { cwd: path });
    expect((await send()).warnings.join()).toContain("its name is not UTF-8");
  });

  it("has what is uncommitted in it, as uncommitted", async () => {
    const { path, send, files, sandboxPath } = scene();
    commitFiles(path, { "gone.txt": "", "staged.txt": "" });
    writeFiles(path, { "new\nline": "new\n", "README.md": "changed\n", "staged.txt": "staged\n" });
    git(path, "add", "staged.txt");
    git(path, "rm", "--quiet", "gone.txt");
    const { uncommitted } = await files();
    await send({ uncommitted });
    expect(statusOf(sandboxPath).split("\n").sort()).toEqual(
      [" D gone.txt", " M README.md", " M staged.txt", '?? "new\\nline"'].sort(),
    );
    expect(readFileSync(join(sandboxPath, "new\nline"), "utf8")).toBe("new\n");
  });

  it("is refused if the branch has no directory for the caller's", async () => {
    const refused = scene().send({ prefix: "missing/" });
    await expect(refused).rejects.toBeInstanceOf(SandboxError);
    await expect(refused).rejects.toThrow("The branch has no directory missing/");
  });

  it("of a shallow clone is as shallow there", async () => {
    const origin = temporaryRepository();
    commitFiles(origin, { "a.txt": "" });
    const cwd = join(temporaryDirectory(), "shallow");
    git(origin, "clone", "--quiet", "--depth=1", `file://${origin}`, cwd);
    const { send, inSandbox } = scene(cwd);
    await send();
    expect(inSandbox("rev-list", "--count", "HEAD")).toBe("1");
    expect(inSandbox("fsck", "--connectivity-only")).toBe("");
  });
});

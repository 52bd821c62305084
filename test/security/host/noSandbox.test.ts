import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { SandboxError } from "../../../src/index.ts";
import { noSandbox } from "../../../src/sandboxes/no-sandbox.ts";
import { commandLines } from "../../helpers/processes/processes.ts";
import { git, temporaryDirectory, temporaryRepository } from "../../helpers/repository/repository.ts";
import { describeWith, type Runtime } from "../../helpers/runtimes/runtimes.ts";
import { atTerminal } from "../agent/atTerminal.ts";
import type { Place } from "../agent/hostSessions.ts";

const PLACES: [Place, Runtime[]][] = [
  ["none", ["tmux"]],
  ["bubblewrap", ["tmux", "bubblewrap"]],
];
const BRANCH = { type: "branch", branch: "agent/work" } as const;
const MERGE = { type: "merge-to-head" } as const;

/** Waits for Enter, so that a test can look around meanwhile. */
const WAIT = "echo waiting; read answer";
const commit = (message: string) => `git commit --quiet --allow-empty -m ${message}`;

/** The files of sessions at the terminal that are on the host now, with what is in them. */
const preparedFiles = (): string[] =>
  readdirSync("/tmp")
    .filter((name) => /^sanddune-[0-9a-f]{32}$/.test(name))
    .flatMap((name) => {
      try {
        return readdirSync(join("/tmp", name)).map((file) => readFileSync(join("/tmp", name, file), "utf8"));
      } catch {
        return [];
      }
    });

for (const [place, runtimes] of PLACES) {
  describeWith(runtimes, `an agent with a person before it, place ${place}`, () => {
    const isHost = place === "none";

    it(`${isHost ? "never skips" : "skips"} permissions, at every entry point`, async () => {
      const cwd = temporaryRepository();
      const act = { kind: "interactive", place, script: 'echo "may skip: $skip"' } as const;
      const scenes = [
        { cwd, acts: [act] },
        { cwd, branchStrategy: BRANCH, acts: [act] },
      ];
      for (const scene of scenes) {
        const { terminal, outcomes } = atTerminal(scene);
        expect((await outcomes())[0]).toMatchObject({ exitCode: 0 });
        expect(terminal.history()).toContain(`may skip: ${!isHost}`);
      }
    });

    it("gets its env vars without any of their values on a command line or in a file", async () => {
      const cwd = temporaryRepository();
      const secret = `value-${Math.random().toString(36).slice(2)}`;
      const script = `[ "$TOKEN" = "$EXPECTED" ] && echo same; ${WAIT}`;
      const env = { TOKEN: secret, EXPECTED: secret };
      const { terminal, outcomes } = atTerminal({ cwd, acts: [{ kind: "interactive", place, script, env }] });
      await terminal.shows(/^same$/m);
      await terminal.shows(/^waiting$/m);
      const lines = commandLines();
      // The agent's own is among them: what is looked for would be found.
      expect(lines.filter((line) => line.includes("echo same")).length).toBeGreaterThan(0);
      expect(lines.filter((line) => line.includes(secret))).toEqual([]);
      expect(preparedFiles().filter((text) => text.includes(secret))).toEqual([]);
      terminal.press("Enter");
      expect((await outcomes())[0]).toMatchObject({ exitCode: 0 });
      expect(terminal.bytes()).not.toContain(secret);
    });
  });
}

describeWith(["tmux"], "an agent on the host", () => {
  it("has the host's environment, but for what names a repository; and what was declared", async () => {
    const cwd = temporaryRepository();
    const other = temporaryRepository();
    const repository = {
      GIT_DIR: join(other, ".git"),
      GIT_WORK_TREE: other,
      GIT_INDEX_FILE: join(other, ".git/index"),
    };
    const script = `env | grep -c '^GIT_\\(DIR\\|WORK_TREE\\|INDEX_FILE\\)=';
      echo "<$EDITOR_OF_CHOICE> <$GIT_EDITOR> <$DECLARED>"; ${commit("Mine")}`;
    const before = git(other, "rev-parse", "HEAD");
    const { terminal, outcomes } = atTerminal(
      { cwd, acts: [{ kind: "interactive", script, env: { DECLARED: { public: "declared" } } }] },
      { ...repository, EDITOR_OF_CHOICE: "ed", GIT_EDITOR: "vi" },
    );
    const [result] = await outcomes();
    expect(terminal.history()).toMatch(/^0$/m);
    expect(terminal.history()).toContain("<ed> <vi> <declared>");
    expect(result?.commits).toEqual([{ sha: git(cwd, "rev-parse", "HEAD") }]);
    expect(git(other, "rev-parse", "HEAD")).toBe(before);
  });

  it.each([
    ["branch", BRANCH, "agent/work"],
    ["merge-to-head", MERGE, "main"],
  ])("works with the %s strategy in a worktree", async (_, branchStrategy, branch) => {
    const cwd = temporaryRepository();
    const acts = [{ kind: "interactive", script: commit("Mine") }] as const;
    const [result, closed] = await atTerminal({ cwd, branchStrategy, acts }).outcomes();
    expect(result).toMatchObject({ exitCode: 0, branch, commits: [{ sha: git(cwd, "rev-parse", branch) }] });
    expect(git(cwd, "log", "-1", "--format=%s", branch)).toBe("Mine");
    expect(closed).toEqual({ commits: result?.commits, warnings: [] });
    expect(git(cwd, "worktree", "list").split("\n")).toHaveLength(1);
  });

  it("does not get hooks that were meant for a sandbox", async () => {
    const cwd = temporaryRepository();
    const hooks = { sandbox: { onSandboxReady: [{ command: `touch ${cwd}/canary` }] } };
    const acts = [{ kind: "interactive", script: `touch ${cwd}/started`, hooks }] as const;
    const [result] = await atTerminal({ cwd, branchStrategy: BRANCH, acts }).outcomes();
    expect(result).toMatchObject({ error: "InvalidOptionsError", option: "hooks.sandbox" });
    expect(readdirSync(cwd).filter((name) => name === "canary" || name === "started")).toEqual([]);
  });
});

describe("no-sandbox", () => {
  const open = () =>
    noSandbox().create({ worktreePath: temporaryDirectory(), environment: { PATH: "/usr/bin" } });

  it("runs nothing as root", async () => {
    const handle = await open();
    const error = await handle.exec("id", { sudo: true }).catch((reason) => reason);
    expect(error).toBeInstanceOf(SandboxError);
    expect(error.message).toMatch(/nothing is run as root on the host/);
    await handle.close();
  });

  it("runs commands as its user, where the worktree is, with the environment that it was given", async () => {
    const handle = await open();
    const { stdout } = await handle.exec('id -u; pwd; echo "<$HOST_SECRET>"');
    expect(stdout).toBe(`${process.getuid?.()}\n${handle.worktreePath}\n<>\n`);
    await handle.close();
  });
});

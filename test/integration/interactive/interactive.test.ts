import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { leftovers } from "../../helpers/processes/leftovers.ts";
import { waitFor } from "../../helpers/processes/waiting.ts";
import { git, temporaryRepository } from "../../helpers/repository/repository.ts";
import { describeWith } from "../../helpers/runtimes/runtimes.ts";
import {
  commit,
  environmentsWith,
  expectSaneTerminal,
  NEEDS,
  repositoryWithAgent,
  SANDBOXES,
  type SandboxName,
  type Scene,
  startFilesOf,
  startScene,
  startSession,
  subjects,
  TUI,
  uniqueMark,
} from "./scenes.ts";

/** Keys that a terminal acts on by itself, unless the agent has them. */
const RAW_KEYS = {
  "C-p": "0x10",
  "C-q": "0x11",
  "C-s": "0x13",
  "C-z": "0x1a",
  "C-d": "0x04",
  "C-\\": "0x1c",
  Tab: "0x09",
  Escape: "0x1b",
};

const expectKeysToArrive = async ({ terminal, typing }: Scene): Promise<void> => {
  for (const key of ["h", "?", "7"]) await typing(key, `key ${key}`);
  for (const [key, shown] of Object.entries(RAW_KEYS)) {
    terminal.press(key);
    await terminal.shows(`key ${shown}`);
  }
  terminal.press("C-c");
  await terminal.shows("interrupted by a key");
};

const expectSizesToFollow = async ({ terminal }: Scene): Promise<void> => {
  const sizes = [
    [120, 37],
    [61, 23],
    [93, 31],
  ] as const;
  for (const [columns, rows] of sizes) {
    terminal.resize(columns, rows);
    await terminal.shows(`size ${rows} ${columns}`);
  }
};

/** The containers that a session has left, running or not. */
const containersOf = (sandbox: SandboxName, runId: string): string => {
  if (sandbox !== "docker" && sandbox !== "podman") return "";
  const { stdout } = spawnSync(sandbox, ["ps", "--all", "--quiet", "--filter", `name=${runId}`], {
    encoding: "utf8",
  });
  return stdout.trim();
};

describe.each(SANDBOXES)("an interactive session with %s", (sandbox) => {
  const isOnHost = sandbox === "no-sandbox" || sandbox === "test-isolated";

  describeWith(NEEDS[sandbox], "has a terminal of its own", () => {
    it("keys, sizes, prompt and env vars arrive; it resolves with the commits, which are on the branch that the user is on, and leaves a sane terminal and nothing else", async () => {
      const prompt = `--it's "quoted", $HOME, \`date\`, \\\n\ngrüße, 世界 🎉`;
      const mark = `${uniqueMark()} 'there' $HOME`;
      const scene = await startSession(
        sandbox,
        { prompt, env: { GREETING: mark } },
        { columns: 93, rows: 31 },
      );
      await scene.terminal.shows(/^ready 31 93 TERM=(tmux|xterm)-256color$/m);
      await scene.terminal.shows(`prompt <${prompt.replaceAll("\n", "\\n")}>`);
      await scene.terminal.shows(`greeting ${mark}`);
      await scene.saying("test -t 0 && echo a terminal", "said <a terminal>");
      await expectSizesToFollow(scene);
      await expectKeysToArrive(scene);
      await commit(scene, "First");
      await commit(scene, "Second");
      const startFiles = startFilesOf(environmentsWith(mark));
      if (isOnHost) expect(startFiles.filter(existsSync)).toHaveLength(1);
      scene.terminal.type("q");

      const { outcomes, interrupts, listens } = await scene.report();
      const value = outcomes[0]?.value;
      const shas = git(scene.cwd, "log", "--reverse", "-2", "--format=%H").split("\n");
      expect(value).toMatchObject({ exitCode: 0, branch: "main", commits: shas.map((sha) => ({ sha })) });
      expect(readFileSync(value?.["logFilePath"] as string, "utf8")).toContain("The session is over.");
      expect(subjects(scene.cwd, "HEAD~2..")).toEqual(["Second", "First"]);
      expect({ interrupts, listens }).toEqual({ interrupts: 0, listens: true });
      await expectSaneTerminal(scene);
      expect(environmentsWith(mark)).toEqual([]);
      expect(startFiles.filter(existsSync)).toEqual([]);
      expect(readdirSync(scene.temporary)).toEqual([]);
      expect(git(scene.cwd, "status", "--porcelain")).toBe("");
      expect(leftovers(scene.cwd)).toEqual([]);
      expect(containersOf(sandbox, String(value?.["runId"]))).toBe("");
    });
  });

  describeWith(NEEDS[sandbox], "that is aborted", () => {
    it("ends the agent with everything it has started, imports commits, leaves a sane terminal, and rejects with the very reason", async () => {
      const mark = uniqueMark();
      const scene = await startSession(sandbox, { env: { GREETING: mark } });
      const startFiles = startFilesOf(environmentsWith(mark));
      await commit(scene, "Committed");
      await scene.typing("b", "started");
      await scene.saying("(setsid nohup sleep 1000 </dev/null >/dev/null 2>&1 &); echo two", "said <two>");
      await waitFor(() => environmentsWith(mark).length >= 3);
      scene.signal();
      expect((await scene.outcome()).error?.isReason).toBe(true);
      await expectSaneTerminal(scene);
      expect(environmentsWith(mark)).toEqual([]);
      expect(startFiles.filter(existsSync)).toEqual([]);
      const branch =
        sandbox === "test-isolated"
          ? git(scene.cwd, "branch", "--list", "sanddune/*", "--format=%(refname)")
          : "main";
      expect(git(scene.cwd, "log", "-1", "--format=%s", branch)).toBe("Committed");
    });
  });
});

describe.each(["no-sandbox", "test-isolated"] as const)("an interactive session with %s", (sandbox) => {
  const isIsolated = sandbox === "test-isolated";

  describeWith(NEEDS[sandbox], "whose agent does not end well", () => {
    it("resolves with its exit code, and neither its commits nor what it has not committed are lost", async () => {
      const scene = await startSession(sandbox);
      await commit(scene, "Half");
      await scene.saying("echo open > open.txt; echo written", "said <written>");
      scene.terminal.type("e");
      const { value } = await scene.outcome();
      expect(value).toMatchObject({ exitCode: 3, commits: [expect.anything()] });
      await scene.terminal.shows("The agent ended with exit code 3.");
      const branch = String(value?.["branch"]);
      expect(subjects(scene.cwd, `HEAD~1..${branch}`).at(0)).toBe("Half");
      const kept = isIsolated ? String(value?.["preservedWorktreePath"]) : scene.cwd;
      expect(git(kept, "status", "--porcelain")).toBe("?? open.txt");
      if (!isIsolated) return expect(branch).toBe("main");
      expect(branch).toMatch(/^sanddune\//);
      expect(subjects(scene.cwd, "main")).not.toContain("Half");
      expect(value?.["warnings"]).toContainEqual(expect.stringContaining(`git merge ${branch}`));
      await scene.terminal.shows(/not merged/);
    });
  });

  describeWith(NEEDS[sandbox], "in another directory", () => {
    it("works on the repository that `cwd` names, and starts the agent in the sub-directory that `cwd` is", async () => {
      const repository = repositoryWithAgent();
      const cwd = join(repository, "packages/app");
      mkdirSync(cwd, { recursive: true });
      writeFileSync(join(cwd, "file.txt"), "x\n");
      git(repository, "add", ".");
      git(repository, "commit", "--quiet", "-m", "Add a package");
      const elsewhere = temporaryRepository();
      const scene = await startSession(sandbox, { cwd, agent: "perl ../../tui.pl" }, { cwd: elsewhere });
      await scene.terminal.shows(/^in \/.*\/packages\/app$/m);
      await scene.saying("ls", "said <file.txt>");
      await commit(scene, "There");
      scene.terminal.type("q");
      expect((await scene.outcome()).value?.["commits"]).toHaveLength(1);
      expect(subjects(repository, "HEAD~1..")).toEqual(["There"]);
      expect(existsSync(join(elsewhere, ".sanddune"))).toBe(false);
    });
  });

  describeWith(NEEDS[sandbox], "that cannot begin", () => {
    it("says that the agent's program is missing", async () => {
      const scene = startScene([{ call: "interactive", sandbox, agent: "no-such-agent --tui" }]);
      const { error } = await scene.outcome();
      expect(error?.name).toBe("AgentNotFoundError");
      expect(error?.message).toContain("no-such-agent");
      expect(leftovers(scene.cwd)).toEqual([]);
    });
  });
});

describeWith(NEEDS["no-sandbox"], "an interactive session without a terminal", () => {
  it.each([
    ["input", '"$@" < /dev/null'],
    ["output", '"$@" | cat'],
  ])("is refused when standard %s is a pipe, before anything is created", async (_, shell) => {
    const scene = startScene([{ call: "interactive", sandbox: "no-sandbox", agent: TUI }], { shell });
    const { error } = await scene.outcome();
    expect(error?.name).toBe("TerminalError");
    expect(error?.message).toMatch(/interactive session needs .*terminal/);
    expect(existsSync(join(scene.cwd, ".sanddune"))).toBe(false);
  });
});

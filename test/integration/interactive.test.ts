import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { leftovers } from "../helpers/leftovers.ts";
import { git, temporaryRepository } from "../helpers/repository.ts";
import { describeWith } from "../helpers/runtimes.ts";
import { waitFor } from "../helpers/waiting.ts";
import {
  commit,
  environmentsWith,
  NEEDS,
  repositoryWithAgent,
  SANDBOXES,
  type SandboxName,
  startFilesOf,
  startScene,
  startSession,
  subjects,
  TUI,
  uniqueMark,
} from "./interactiveScenes.ts";

/** A repository whose agent is in the sub-directory `packages/app`. */
const monorepo = () => {
  const cwd = repositoryWithAgent();
  mkdirSync(join(cwd, "packages/app"), { recursive: true });
  writeFileSync(join(cwd, "packages/app/file.txt"), "x\n");
  git(cwd, "add", ".");
  git(cwd, "commit", "--quiet", "-m", "Add a package");
  return cwd;
};

describe.each(SANDBOXES)("an interactive session with %s", (sandbox) => {
  const isIsolated = sandbox === "test-isolated";

  describeWith(NEEDS[sandbox], "when the person leaves it", () => {
    it("resolves with the commits, which are on the branch that the user is on", async () => {
      const scene = await startSession(sandbox);
      await commit(scene, "First");
      await commit(scene, "Second");
      scene.terminal.type("q");
      const { value } = await scene.outcome();
      const shas = git(scene.cwd, "log", "--reverse", "-2", "--format=%H").split("\n");
      expect(value).toMatchObject({ exitCode: 0, branch: "main", commits: shas.map((sha) => ({ sha })) });
      expect(subjects(scene.cwd, "HEAD~2..")).toEqual(["Second", "First"]);
      expect(git(scene.cwd, "status", "--porcelain")).toBe("");
      expect(leftovers(scene.cwd)).toEqual([]);
    });

    it("resolves with the exit code of an agent that did not end well, and its commits are not lost", async () => {
      const scene = await startSession(sandbox);
      await commit(scene, "Half");
      scene.terminal.type("e");
      const { value } = await scene.outcome();
      expect(value).toMatchObject({ exitCode: 3, commits: [expect.anything()] });
      const branch = String(value?.["branch"]);
      expect(subjects(scene.cwd, `HEAD~1..${branch}`).at(0)).toBe("Half");
      if (!isIsolated) return expect(branch).toBe("main");
      expect(branch).toMatch(/^sanddune\//);
      expect(subjects(scene.cwd, "main")).not.toContain("Half");
      expect(value?.["warnings"]).toContainEqual(expect.stringContaining(`git merge ${branch}`));
      await scene.terminal.shows(/not merged/);
    });

    it("keeps work that is not committed where it belongs", async () => {
      const scene = await startSession(sandbox);
      await scene.saying("echo open > open.txt; echo written", "said <written>");
      scene.terminal.type("q");
      const { value } = await scene.outcome();
      const kept = isIsolated ? String(value?.["preservedWorktreePath"]) : scene.cwd;
      expect(git(kept, "status", "--porcelain")).toBe("?? open.txt");
    });

    it("leaves no process, no file and no container behind", async () => {
      const mark = uniqueMark();
      const scene = await startSession(sandbox, { env: { GREETING: mark } });
      const startFiles = startFilesOf(environmentsWith(mark));
      if (sandbox === "no-sandbox" || isIsolated) expect(startFiles.filter(existsSync)).toHaveLength(1);
      scene.terminal.type("q");
      const { value } = await scene.outcome();
      expect(environmentsWith(mark)).toEqual([]);
      expect(startFiles.filter(existsSync)).toEqual([]);
      expect(readdirSync(scene.temporary)).toEqual([]);
      expect(leftovers(scene.cwd)).toEqual([]);
      expect(containersOf(sandbox, String(value?.["runId"]))).toBe("");
    });
  });

  describeWith(NEEDS[sandbox], "that is aborted", () => {
    it("ends the agent with everything it has started, brings commits home, and rejects with the very reason", async () => {
      const mark = uniqueMark();
      const scene = await startSession(sandbox, { env: { GREETING: mark } });
      const startFiles = startFilesOf(environmentsWith(mark));
      await commit(scene, "Committed");
      await scene.typing("b", "started");
      await scene.saying("(setsid nohup sleep 1000 </dev/null >/dev/null 2>&1 &); echo two", "said <two>");
      await waitFor(() => environmentsWith(mark).length >= 3);
      scene.signal();
      expect((await scene.outcome()).error?.isReason).toBe(true);
      expect(environmentsWith(mark)).toEqual([]);
      expect(startFiles.filter(existsSync)).toEqual([]);
      const branch = isIsolated
        ? git(scene.cwd, "branch", "--list", "sanddune/*", "--format=%(refname)")
        : "main";
      expect(git(scene.cwd, "log", "-1", "--format=%s", branch)).toBe("Committed");
    });
  });

  describeWith(NEEDS[sandbox], "in another directory", () => {
    it("works on the repository that `cwd` names", async () => {
      const cwd = repositoryWithAgent();
      const elsewhere = temporaryRepository();
      const scene = await startSession(sandbox, { cwd }, { cwd: elsewhere });
      await commit(scene, "There");
      scene.terminal.type("q");
      expect((await scene.outcome()).value?.["commits"]).toHaveLength(1);
      expect(subjects(cwd, "HEAD~1..")).toEqual(["There"]);
      expect(existsSync(join(elsewhere, ".sanddune"))).toBe(false);
    });

    it("starts the agent in the sub-directory that `cwd` is", async () => {
      const cwd = monorepo();
      const scene = await startSession(sandbox, {
        cwd: join(cwd, "packages/app"),
        agent: "perl ../../tui.pl",
      });
      await scene.terminal.shows(/^in \/.*\/packages\/app$/m);
      await scene.saying("ls", "said <file.txt>");
      scene.terminal.type("q");
      expect((await scene.outcome()).value?.["exitCode"]).toBe(0);
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

    it("says that the agent has no terminal interface, before anything is created", async () => {
      const scene = startScene([{ call: "interactive", sandbox, isPlain: true }]);
      const { error } = await scene.outcome();
      expect(error?.name).toBe("InvalidOptionsError");
      expect(error?.message).toContain("no terminal interface");
      expect(existsSync(join(scene.cwd, ".sanddune"))).toBe(false);
    });

    it.each([
      ["input", '"$@" < /dev/null'],
      ["output", '"$@" | cat'],
    ])(
      "says that there is no terminal when standard %s is a pipe, before anything is created",
      async (_, shell) => {
        const scene = startScene([{ call: "interactive", sandbox, agent: TUI }], { shell });
        const { error } = await scene.outcome();
        expect(error?.name).toBe("TerminalError");
        expect(error?.message).toMatch(/interactive session needs .*terminal/);
        expect(existsSync(join(scene.cwd, ".sanddune"))).toBe(false);
      },
    );
  });
});

/** The containers that a session has left, running or not. */
const containersOf = (sandbox: SandboxName, runId: string): string => {
  if (sandbox !== "docker" && sandbox !== "podman") return "";
  const { stdout } = spawnSync(sandbox, ["ps", "--all", "--quiet", "--filter", `name=${runId}`], {
    encoding: "utf8",
  });
  return stdout.trim();
};

import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { leftovers } from "../../helpers/processes/leftovers.ts";
import { waitFor } from "../../helpers/processes/waiting.ts";
import { git, temporaryDirectory } from "../../helpers/repository/repository.ts";
import { describeWith } from "../../helpers/runtimes/runtimes.ts";
import {
  commit,
  created,
  expectSaneTerminal,
  NEEDS,
  repositoryWithAgent,
  type Step,
  startScene,
  startSession,
  subjects,
  TUI,
} from "./scenes.ts";

describeWith(NEEDS["test-isolated"], "an interactive session in a sandbox", () => {
  it("has what hooks have made, on the host and in the sandbox, and the files that copyToWorktree names", async () => {
    const cwd = repositoryWithAgent();
    writeFileSync(join(cwd, ".git/info/exclude"), "settings.local\n");
    writeFileSync(join(cwd, "settings.local"), "mine\n");
    const directory = temporaryDirectory();
    const hooks = {
      host: { onWorktreeReady: [{ command: `touch ${directory}/ready` }] },
      sandbox: { onSandboxReady: [{ command: "echo installed > $HOME/tool" }] },
    };
    const scene = await startSession("test-isolated", { hooks, copyToWorktree: ["settings.local"] }, { cwd });
    expect(existsSync(join(directory, "ready"))).toBe(true);
    await scene.saying("cat $HOME/tool settings.local", "said <installed\\nmine>");
    scene.terminal.type("q");
    expect((await scene.outcome()).value?.["exitCode"]).toBe(0);
    expect(readFileSync(join(cwd, "settings.local"), "utf8")).toBe("mine\n");
  });

  it("does not start the agent if a hook fails", async () => {
    const hooks = { sandbox: { onSandboxReady: [{ command: "exit 4" }] } };
    const scene = startScene([
      { call: "interactive", sandbox: "test-isolated", agent: TUI, options: { hooks } },
    ]);
    expect((await scene.outcome()).error?.name).toBe("HookFailedError");
    expect(scene.terminal.bytes()).not.toContain("ready 40");
    expect(leftovers(scene.cwd)).toEqual([]);
  });
});

describeWith(NEEDS["no-sandbox"], "an interactive session without a sandbox", () => {
  it("runs hooks for the host, has the user's own environment, and leaves the user's git configuration alone", async () => {
    const [directory, home] = [temporaryDirectory(), temporaryDirectory()];
    const hooks = { host: { onWorktreeReady: [{ command: `touch ${directory}/ready` }] } };
    const scene = await startSession("no-sandbox", { hooks }, { env: { HOME: home, OF_THE_USER: "mine" } });
    expect(existsSync(join(directory, "ready"))).toBe(true);
    await scene.saying("echo $OF_THE_USER $HOME", `said <mine ${home}>`);
    await commit(scene, "Mine");
    scene.terminal.type("q");
    await scene.outcome();
    expect(readdirSync(home).filter((name) => name.startsWith(".git"))).toEqual([]);
  });

  it("tells of the branch and of the commits, whether the agent makes another branch, renames the user's, or deletes it", async () => {
    const session: Step = { call: "interactive", sandbox: "no-sandbox", agent: TUI };
    const scene = startScene([session, session, session]);
    const begins = (count: number) =>
      waitFor(() => scene.terminal.bytes().split("ready 40 200").length === count + 1);
    const goesTo = (branch: string, line: string) =>
      scene.saying(`{ ${line}; } >/dev/null 2>&1; git branch --show-current`, `said <${branch}>`);

    await begins(1);
    await goesTo("made", "git switch --create made");
    await commit(scene, "On a new branch");
    scene.terminal.type("q");
    await begins(2);
    await commit(scene, "Before the renaming");
    await goesTo("renamed", "git branch -m renamed");
    scene.terminal.type("e");
    await begins(3);
    await commit(scene, "Before the deletion");
    await goesTo("other", "git switch --create other; git branch -D renamed");
    scene.terminal.type("e");

    const { outcomes } = await scene.report();
    const [first, second, third] = git(scene.cwd, "log", "--reverse", "-3", "--format=%H", "other").split(
      "\n",
    );
    expect(outcomes.map(({ value }) => value)).toMatchObject([
      { exitCode: 0, branch: "made", commits: [{ sha: first }] },
      { exitCode: 3, branch: "renamed", commits: [{ sha: second }] },
      { exitCode: 3, branch: "other", commits: [{ sha: third }] },
    ]);
    expect(subjects(scene.cwd, "main")).not.toContain("On a new branch");
  });
});

/** A directory with all that a session in bubblewrap asks of a machine, but not `script`. */
const programsWithoutScript = (): string => {
  const directory = temporaryDirectory();
  for (const name of ["git", "sh", "stty"]) {
    const path = execFileSync("sh", ["-c", `command -v ${name}`], { encoding: "utf8" }).trim();
    symlinkSync(path, join(directory, name));
  }
  // It looks for programs in the sandbox, where this directory is not.
  writeFileSync(join(directory, "bwrap"), '#!/bin/sh\nPATH=/usr/bin:/bin exec bwrap "$@"\n', { mode: 0o755 });
  return directory;
};

describeWith(NEEDS.bubblewrap, "an interactive session on a machine without the program script", () => {
  it("says what is missing, before anything is created", async () => {
    const scene = startScene([{ call: "interactive", sandbox: "bubblewrap", agent: TUI }], {
      shell: `PATH=${programsWithoutScript()} "$@"`,
    });
    const { error } = await scene.outcome();
    expect(error?.message).toMatch(/\bscript\b/);
    expect.soft(error?.name).toMatch(/^(SandboxUnavailableError|PrerequisiteError)$/);
    expect.soft(existsSync(join(scene.cwd, ".sanddune"))).toBe(false);
  });
});

describe.each(["docker", "podman"] as const)("a %s container that is removed during a session", (engine) => {
  describeWith(NEEDS[engine], "is a lost sandbox", () => {
    it("rejects with a SandboxLostError, leaves a sane terminal, and commits are imported", async () => {
      const scene = await startSession(engine);
      await commit(scene, "Before the loss");
      for (const name of created(scene.cwd, "sandbox")) spawnSync(engine, ["rm", "--force", name]);
      const { error } = await scene.outcome();
      expect(error?.name).toBe("SandboxLostError");
      await expectSaneTerminal(scene);
      expect(subjects(scene.cwd, "main")).toContain("Before the loss");
    });
  });
});

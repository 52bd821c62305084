import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { leftovers } from "../helpers/leftovers.ts";
import { git, temporaryDirectory } from "../helpers/repository.ts";
import { describeWith } from "../helpers/runtimes.ts";
import {
  commit,
  created,
  expectSaneTerminal,
  NEEDS,
  repositoryWithAgent,
  startScene,
  startSession,
  subjects,
  TUI,
} from "./interactiveScenes.ts";

describe.each(["bubblewrap", "docker", "test-isolated"] as const)(
  "hooks of an interactive session with %s",
  (sandbox) => {
    describeWith(NEEDS[sandbox], "run before the agent starts", () => {
      it("on the host and in the sandbox", async () => {
        const directory = temporaryDirectory();
        const hooks = {
          host: { onWorktreeReady: [{ command: `touch ${directory}/ready` }] },
          sandbox: { onSandboxReady: [{ command: "echo installed > $HOME/tool" }] },
        };
        const scene = await startSession(sandbox, { hooks });
        expect(existsSync(join(directory, "ready"))).toBe(true);
        await scene.saying("cat $HOME/tool", "said <installed>");
        scene.terminal.type("q");
        expect((await scene.outcome()).value?.["exitCode"]).toBe(0);
      });

      it("and if one fails, the agent is not started", async () => {
        const hooks = { sandbox: { onSandboxReady: [{ command: "exit 4" }] } };
        const scene = startScene([{ call: "interactive", sandbox, agent: TUI, options: { hooks } }]);
        expect((await scene.outcome()).error?.name).toBe("HookFailedError");
        expect(scene.terminal.bytes()).not.toContain("ready 40");
        expect(leftovers(scene.cwd)).toEqual([]);
      });
    });
  },
);

describeWith(NEEDS["no-sandbox"], "an interactive session without a sandbox", () => {
  it("runs hooks for the host", async () => {
    const directory = temporaryDirectory();
    const hooks = { host: { onWorktreeReady: [{ command: `touch ${directory}/ready` }] } };
    const scene = await startSession("no-sandbox", { hooks });
    expect(existsSync(join(directory, "ready"))).toBe(true);
    scene.terminal.type("q");
    await scene.outcome();
  });

  it("refuses hooks for a sandbox, before anything is created", async () => {
    const hooks = { sandbox: { onSandboxReady: [{ command: "touch ran.txt" }] } };
    const scene = startScene([
      { call: "interactive", sandbox: "no-sandbox", agent: TUI, options: { hooks } },
    ]);
    const { error } = await scene.outcome();
    expect(error?.name).toBe("InvalidOptionsError");
    expect(error?.message).toContain("hooks.sandbox");
    expect(existsSync(join(scene.cwd, "ran.txt"))).toBe(false);
    expect(existsSync(join(scene.cwd, ".sanddune"))).toBe(false);
  });

  it("tells of the branch that the agent has made and gone to, and of the commits there", async () => {
    const scene = await startSession("no-sandbox");
    await scene.saying("git switch --quiet --create feature; git branch --show-current", "said <feature>");
    await commit(scene, "On a new branch");
    scene.terminal.type("q");
    const { value } = await scene.outcome();
    const sha = git(scene.cwd, "rev-parse", "feature");
    expect(value).toMatchObject({ exitCode: 0, branch: "feature", commits: [{ sha }] });
    expect(subjects(scene.cwd, "main")).not.toContain("On a new branch");
  });

  it.each([
    ["renamed", "git branch -m renamed"],
    ["left and deleted", "git switch --quiet --create renamed; git branch -D main"],
  ])("tells of the branch and of the commits also when the user's branch was %s", async (_, line) => {
    const scene = await startSession("no-sandbox");
    await commit(scene, "Before");
    await scene.saying(`{ ${line}; } >/dev/null 2>&1; git branch --show-current`, "said <renamed>");
    scene.terminal.type("e");
    const { value } = await scene.outcome();
    const sha = git(scene.cwd, "rev-parse", "renamed");
    expect(value).toMatchObject({ exitCode: 3, branch: "renamed", commits: [{ sha }] });
  });

  it("has the user's own environment, and leaves the user's git configuration alone", async () => {
    const home = temporaryDirectory();
    const scene = await startSession("no-sandbox", {}, { env: { HOME: home, OF_THE_USER: "mine" } });
    await scene.saying("echo $OF_THE_USER $HOME", `said <mine ${home}>`);
    await commit(scene, "Mine");
    scene.terminal.type("q");
    await scene.outcome();
    expect(readdirSync(home).filter((name) => name.startsWith(".git"))).toEqual([]);
  });
});

it("copyToWorktree brings files that git does not track to the agent", async () => {
  const cwd = repositoryWithAgent();
  writeFileSync(join(cwd, ".git/info/exclude"), "settings.local\n");
  writeFileSync(join(cwd, "settings.local"), "mine\n");
  const scene = await startSession("test-isolated", { copyToWorktree: ["settings.local"] }, { cwd });
  await scene.saying("cat settings.local", "said <mine>");
  scene.terminal.type("q");
  expect((await scene.outcome()).value?.["exitCode"]).toBe(0);
  expect(readFileSync(join(cwd, "settings.local"), "utf8")).toBe("mine\n");
});

/** A directory with all the programs of this machine but one. */
const programsWithout = (missing: string): string => {
  const directory = temporaryDirectory();
  const found = (process.env["PATH"] ?? "").split(":").filter(existsSync);
  for (const name of new Set(found.flatMap((path) => readdirSync(path)))) {
    const home = found.find((path) => existsSync(join(path, name)));
    if (name !== missing && home !== undefined) symlinkSync(join(home, name), join(directory, name));
  }
  // It looks for programs in the sandbox, where this directory is not.
  rmSync(join(directory, "bwrap"));
  writeFileSync(join(directory, "bwrap"), '#!/bin/sh\nPATH=/usr/bin:/bin exec bwrap "$@"\n', { mode: 0o755 });
  return directory;
};

describeWith(NEEDS.bubblewrap, "an interactive session on a machine without the program script", () => {
  it("says what is missing, before anything is created", async () => {
    const scene = startScene([{ call: "interactive", sandbox: "bubblewrap", agent: TUI }], {
      shell: `PATH=${programsWithout("script")} "$@"`,
    });
    const { error } = await scene.outcome();
    expect(error?.message).toMatch(/\bscript\b/);
    expect.soft(error?.name).toMatch(/^(SandboxUnavailableError|PrerequisiteError)$/);
    expect.soft(existsSync(join(scene.cwd, ".sanddune"))).toBe(false);
  });
});

describe.each(["docker", "podman"] as const)("a %s container that is removed during a session", (engine) => {
  describeWith(NEEDS[engine], "is a lost sandbox", () => {
    it("rejects with a SandboxLostError, leaves a sane terminal, and commits come home", async () => {
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

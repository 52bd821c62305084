import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { leftovers } from "../../helpers/processes/leftovers.ts";
import { waitFor } from "../../helpers/processes/waiting.ts";
import { git } from "../../helpers/repository/repository.ts";
import { describeWith } from "../../helpers/runtimes/runtimes.ts";
import {
  commit,
  environmentsWith,
  expectSaneTerminal,
  NEEDS,
  type Outcome,
  repositoryWithAgent,
  type SandboxName,
  type Scene,
  type Step,
  startScene,
  subjects,
  TUI,
  uniqueMark,
} from "./scenes.ts";

const BRANCH = "agent/work";
const NAMED: Step = {
  call: "createWorktree",
  options: { branchStrategy: { type: "branch", branch: BRANCH } },
};
const MERGED: Step = { call: "createWorktree", options: { branchStrategy: { type: "merge-to-head" } } };
const CLOSE_WORKTREE: Step = { call: "close", on: "worktree" };
const CLOSE_SANDBOX: Step = { call: "close", on: "sandbox" };

const inWorktree = (sandbox?: SandboxName): Step => ({
  call: "interactive",
  on: "worktree",
  agent: TUI,
  ...(sandbox && { sandbox }),
});

const begun = async (steps: readonly Step[]): Promise<Scene> => {
  const scene = startScene(steps);
  await scene.terminal.shows(/^in \//m);
  return scene;
};

const outcomesAfter = async (scene: Scene, key: string): Promise<readonly Outcome[]> => {
  scene.terminal.type(key);
  return (await scene.report()).outcomes;
};

const PLACES = ["by default", "bubblewrap", "test-isolated"] as const;

describe.each(PLACES)("worktree.interactive() with a sandbox: %s", (place) => {
  const sandbox = place === "by default" ? undefined : place;
  describeWith(NEEDS[sandbox ?? "no-sandbox"], "works in the worktree, on its branch", () => {
    it("runs see what it has committed and what it has left open", async () => {
      const look = "cat open.txt; git log -1 --format=%s; git add .; git commit -qm Run";
      const scene = await begun([
        NAMED,
        inWorktree(sandbox),
        { call: "run", on: "worktree", sandbox: "test-isolated", agent: look },
        CLOSE_WORKTREE,
      ]);
      await commit(scene, "By hand");
      await scene.saying("echo open > open.txt; git branch --show-current", `said <${BRANCH}>`);
      const [worktree, session, run, closed] = await outcomesAfter(scene, "q");
      if (sandbox === undefined) {
        expect(scene.terminal.bytes()).toContain(`in ${worktree?.value?.["worktreePath"]}`);
      }
      expect(session?.value).toMatchObject({ exitCode: 0, branch: BRANCH, commits: [expect.anything()] });
      expect(run?.value?.["stdout"]).toBe("open\nBy hand\n");
      expect(closed?.value?.["preservedWorktreePath"]).toBeUndefined();
      expect(subjects(scene.cwd, `main..${BRANCH}`)).toEqual(["Run", "By hand"]);
      expect(git(scene.cwd, "show", `${BRANCH}:open.txt`)).toBe("open");
      expect(leftovers(scene.cwd)).toEqual([]);
    });
  });
});

describe.each(["by default", "test-isolated"] as const)(
  "worktree.interactive() with a sandbox: %s",
  (place) => {
    const session = inWorktree(place === "by default" ? undefined : place);
    describeWith(NEEDS["no-sandbox"], "and merge-to-head", () => {
      it("what it has committed is merged, and the worktree continues; nothing is merged when the agent has not ended well", async () => {
        const scene = await begun([MERGED, session, session, CLOSE_WORKTREE]);
        await commit(scene, "First");
        scene.terminal.type("q");
        // The next session clears the screen at once.
        await waitFor(() => scene.terminal.bytes().includes("The session is over"));
        expect(subjects(scene.cwd, "main~1..main")).toEqual(["First"]);
        await scene.terminal.shows(/^in \//m);
        await commit(scene, "Half");
        const [worktree, first, second] = await outcomesAfter(scene, "e");
        const branch = String(worktree?.value?.["branch"]);
        expect(first?.value).toMatchObject({ exitCode: 0, branch: "main", commits: [expect.anything()] });
        expect(second?.value).toMatchObject({ exitCode: 3, branch, commits: [expect.anything()] });
        expect(second?.value?.["warnings"]).toContainEqual(expect.stringContaining(`git merge ${branch}`));
        expect(subjects(scene.cwd, "main~1..main")).toEqual(["First"]);
        expect(subjects(scene.cwd, `main..${branch}`)).toEqual(["Half"]);
      });
    });
  },
);

/** How the agent of the first session ends; in docker it is killed, and cannot tidy up. */
const ENDS = [
  ["bubblewrap", "q", 0],
  ["docker", "x", 137],
  ["podman", "q", 0],
  ["test-isolated", "q", 0],
] as const;

describe.each(ENDS)("sandbox.interactive() with %s", (sandbox, key, exitCode) => {
  const run = (agent: string): Step => ({ call: "run", on: "sandbox", agent });
  const look: Step = { call: "exec", command: "ls; ls -A /tmp" };
  // The /tmp of test-isolated is the machine's, where others are at work.
  const hasOwnTmp = sandbox !== "test-isolated";
  const expectNothingOfOurs = (looked: Outcome | undefined) => {
    expect(looked?.value).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/^README\.md\n/) });
    if (hasOwnTmp) expect(looked?.value?.["stdout"]).not.toContain("sanddune-");
  };

  describeWith(NEEDS[sandbox], "shares the sandbox with runs", () => {
    it("each sees what the other has left, and after an abort it can be used, with nothing of the agent in it", async () => {
      const mark = uniqueMark();
      const session: Step = {
        call: "interactive",
        on: "sandbox",
        agent: TUI,
        options: { env: { GREETING: mark } },
      };
      const scene = await begun([
        { call: "createSandbox", sandbox, options: { branch: BRANCH } },
        run("echo installed > $HOME/tool; echo built > out.txt; git add .; git commit -qm Run"),
        session,
        look,
        run("cat $HOME/typed; git log -1 --format=%s"),
        session,
        look,
        CLOSE_SANDBOX,
      ]);
      await scene.saying("cat $HOME/tool out.txt", "said <installed\\nbuilt>");
      await scene.saying("echo typed > $HOME/typed; echo ok", "said <ok>");
      if (hasOwnTmp) await scene.saying("ls -A /tmp", /^said <.*sanddune-[0-9a-f]{32}/m);
      await commit(scene, "By hand");
      scene.terminal.type(key);

      await waitFor(() => scene.terminal.bytes().split("ready 40 200").length === 3);
      await scene.typing("b", "started");
      await commit(scene, "Before the abort");
      expect(environmentsWith(mark)).not.toEqual([]);
      scene.signal();
      const [, , first, afterFirst, second, aborted, afterAbort] = (await scene.report()).outcomes;

      expect(first?.value).toMatchObject({ exitCode, branch: BRANCH, commits: [expect.anything()] });
      expectNothingOfOurs(afterFirst);
      expect(second?.value?.["stdout"]).toBe("typed\nBy hand\n");
      expect(aborted?.error?.isReason).toBe(true);
      expectNothingOfOurs(afterAbort);
      expect(environmentsWith(mark)).toEqual([]);
      expect(readdirSync(scene.temporary)).toEqual([]);
      expect(subjects(scene.cwd, `main..${BRANCH}`)).toEqual(["Before the abort", "By hand", "Run"]);
      expect(leftovers(scene.cwd)).toEqual([]);
    });
  });
});

describeWith(NEEDS["test-isolated"], "calls on one handle while the agent has the terminal", () => {
  it("wait for the session to end", async () => {
    const scene = startScene([
      { call: "createSandbox", sandbox: "test-isolated", options: { branch: BRANCH } },
      {
        call: "together",
        steps: [
          { call: "interactive", on: "sandbox", agent: TUI },
          { call: "exec", command: "touch waited.txt; cat typed.txt" },
        ],
      },
      CLOSE_SANDBOX,
    ]);
    await scene.terminal.shows(/^in \//m);
    await scene.saying("ls waited.txt; echo typed > typed.txt", "No such file or directory");
    const [, both, closed] = await outcomesAfter(scene, "q");
    expect(both?.together?.[1]?.value).toMatchObject({ exitCode: 0, stdout: "typed\n" });
    const kept = String(closed?.value?.["preservedWorktreePath"]);
    expect(readFileSync(join(kept, "typed.txt"), "utf8")).toBe("typed\n");
  });

  it("close() ends the session, and imports its commits", async () => {
    const cwd = repositoryWithAgent();
    const go = join(cwd, ".git/go");
    const scene = startScene(
      [
        { call: "createSandbox", sandbox: "test-isolated", options: { branch: BRANCH } },
        {
          call: "together",
          steps: [
            { call: "interactive", on: "sandbox", agent: TUI },
            { call: "close", on: "sandbox", after: go },
          ],
        },
      ],
      { cwd },
    );
    await scene.terminal.shows(/^in \//m);
    await commit(scene, "Committed");
    writeFileSync(go, "");
    const [, both] = (await scene.report()).outcomes;
    expect(both?.together?.[0]?.error?.name).toBe("ClosedError");
    expect(subjects(cwd, `main..${BRANCH}`)).toEqual(["Committed"]);
    await expectSaneTerminal(scene);
    expect(leftovers(cwd)).toEqual([]);
  });
});

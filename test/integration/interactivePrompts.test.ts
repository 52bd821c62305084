import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { describeWith } from "../helpers/runtimes.ts";
import {
  NEEDS,
  repositoryWithAgent,
  type SandboxName,
  type Scene,
  type Step,
  startScene,
  TUI,
  withTemplate,
} from "./interactiveScenes.ts";

const BRANCH = "agent/work";

/** What has to be there before an interactive session of each door, if anything. */
const DOORS: Record<string, readonly Step[]> = {
  "interactive()": [],
  "worktree.interactive()": [
    { call: "createWorktree", options: { branchStrategy: { type: "branch", branch: BRANCH } } },
  ],
  "sandbox.interactive()": [{ call: "createSandbox", sandbox: "bubblewrap", options: { branch: BRANCH } }],
};

const TARGETS = { "worktree.interactive()": "worktree", "sandbox.interactive()": "sandbox" } as const;

/** An interactive session by one of the doors, with a prompt template. */
const ask = (
  template: string,
  { door = "interactive()", sandbox = "bubblewrap", promptArgs = {} as object } = {},
): Scene => {
  const cwd = repositoryWithAgent();
  const promptFile = withTemplate(cwd, template);
  const on = TARGETS[door as keyof typeof TARGETS];
  const own = on === "sandbox" ? {} : { sandbox: sandbox as SandboxName };
  const close: Step[] = on === undefined ? [] : [{ call: "close", on }];
  return startScene(
    [
      ...(DOORS[door] ?? []),
      { call: "interactive", agent: TUI, options: { promptFile, promptArgs }, ...own, ...(on && { on }) },
      ...close,
    ],
    { cwd },
  );
};

/** Answers a question once it is asked. */
const answer = async ({ terminal }: Scene, question: string | RegExp, text: string): Promise<void> => {
  await terminal.shows(question);
  terminal.type(text);
  terminal.press("Enter");
};

const leave = async (scene: Scene) => {
  scene.terminal.type("q");
  return scene.report();
};

/** How the interactive session itself has ended. */
const outcomeOfSession = async (scene: Scene) =>
  (await scene.report()).outcomes.find(
    ({ value, error }) => error !== undefined || value?.["exitCode"] !== undefined,
  );

describe.each(Object.keys(DOORS))("a prompt template with missing arguments, in %s", (door) => {
  describeWith(NEEDS.bubblewrap, "is completed at the terminal", () => {
    it("asks for each key once, in order, and fills the answers in", async () => {
      const scene = ask("Do {{WHAT}} in {{WHERE}}, then {{WHAT}} again.", { door });
      await answer(scene, "{{WHAT}}", "nothing at all");
      await answer(scene, "{{WHERE}}", "the house");
      await scene.terminal.shows("prompt <Do nothing at all in the house, then nothing at all again.>");
      await leave(scene);
    });

    it.each([
      ["Ctrl-C", "C-c"],
      ["Ctrl-D", "C-d"],
    ])("%s at the question gives up, before the session has created anything", async (_, key) => {
      const scene = ask("Do {{WHAT}}.", { door });
      await scene.terminal.shows("{{WHAT}}");
      scene.terminal.press(key);
      const session = await outcomeOfSession(scene);
      expect(session?.error?.name).toBe("CancelledError");
      expect(scene.terminal.history()).not.toContain("ready");
      if (door === "interactive()") expect(existsSync(join(scene.cwd, ".sanddune"))).toBe(false);
    });
  });
});

describeWith(NEEDS.bubblewrap, "a question for a prompt argument", () => {
  it("is asked again after an empty answer", async () => {
    const scene = ask("Do {{WHAT}}.");
    await scene.terminal.shows("{{WHAT}}");
    scene.terminal.press("Enter");
    await scene.terminal.shows(/\{\{WHAT\}\}[\s\S]*\{\{WHAT\}\}/);
    scene.terminal.type("it");
    scene.terminal.press("Enter");
    await scene.terminal.shows("prompt <Do it.>");
    await leave(scene);
  });

  it("takes answers that were typed or pasted before it was asked", async () => {
    const scene = ask("Do {{WHAT}} in {{WHERE}}.");
    await scene.terminal.shows("{{WHAT}}");
    scene.terminal.type("much\rhaste\r");
    await scene.terminal.shows("prompt <Do much in haste.>");
    await leave(scene);
  });

  it("is not asked for arguments that are given or built in", async () => {
    const scene = ask("{{GIVEN}} on {{SOURCE_BRANCH}}: {{ASKED}}", { promptArgs: { GIVEN: "given" } });
    await answer(scene, "{{ASKED}}", "asked");
    await scene.terminal.shows("prompt <given on main: asked>");
    expect(scene.terminal.bytes()).not.toContain("{{GIVEN}}");
    expect(scene.terminal.bytes()).not.toContain("{{SOURCE_BRANCH}}");
    await leave(scene);
  });

  it("takes an answer for text, whatever is in it, also inside of a shell expression", async () => {
    const scene = ask("It is {{WHAT}}, or !`printf '%s' {{WHAT}}`.");
    const hostile = "$(touch /tmp/pwned) `id` '; exit 1 {{OTHER}} !`date`";
    await answer(scene, "{{WHAT}}", hostile);
    await scene.terminal.shows(`prompt <It is ${hostile}, or ${hostile}.>`);
    await leave(scene);
  });

  it("leaves the terminal as it was when it is given up", async () => {
    const scene = ask("Do {{WHAT}}.");
    await scene.terminal.shows("{{WHAT}}");
    scene.terminal.press("C-c");
    const { interrupts, listens } = await scene.report();
    expect({ interrupts, listens }).toEqual({ interrupts: 0, listens: true });
    expect(scene.settings().after).toBe(scene.settings().before);
  });

  it("ends with an abort, and with its very reason", async () => {
    const scene = ask("Do {{WHAT}}.");
    await scene.terminal.shows("{{WHAT}}");
    scene.signal();
    expect((await scene.outcome()).error?.isReason).toBe(true);
    expect(existsSync(join(scene.cwd, ".sanddune"))).toBe(false);
    expect(scene.settings().after).toBe(scene.settings().before);
  });
});

describeWith(NEEDS["no-sandbox"], "a prompt template with shell expressions, without a sandbox", () => {
  const TEMPLATE = "Files: !`touch ran.txt; ls README.md`";
  const hasRun = ({ cwd }: Scene) => existsSync(join(cwd, "ran.txt"));

  it.each(["y", "yes"])("runs its commands when the person has seen them and says %j", async (yes) => {
    const scene = ask(TEMPLATE, { sandbox: "no-sandbox" });
    await answer(scene, /touch ran\.txt; ls README\.md[\s\S]*\[y\/N\]/, yes);
    await scene.terminal.shows("prompt <Files: README.md>");
    await leave(scene);
    expect(hasRun(scene)).toBe(true);
  });

  it.each(["n", "", "perhaps"])("runs nothing when the person says %j", async (no) => {
    const scene = ask(TEMPLATE, { sandbox: "no-sandbox" });
    await answer(scene, "[y/N]", no);
    expect((await scene.outcome()).error?.name).toBe("CancelledError");
    expect(hasRun(scene)).toBe(false);
    expect(existsSync(join(scene.cwd, ".sanddune"))).toBe(false);
  });

  it("does not take for an answer what was typed before the commands could be seen", async () => {
    const scene = ask(TEMPLATE, { sandbox: "no-sandbox" });
    scene.terminal.type("y");
    scene.terminal.press("Enter");
    await answer(scene, "[y/N]", "n");
    expect((await scene.outcome()).error?.name).toBe("CancelledError");
    expect(hasRun(scene)).toBe(false);
  });

  it("takes an answer for text in the commands that run on the host", async () => {
    const scene = ask("!`printf '%s' {{WHAT}}`", { sandbox: "no-sandbox" });
    await answer(scene, "{{WHAT}} in", "; touch ran.txt");
    await answer(scene, "[y/N]", "y");
    await scene.terminal.shows("prompt <; touch ran.txt>");
    await leave(scene);
    expect(hasRun(scene)).toBe(false);
  });

  it("shows commands that try to hide themselves", async () => {
    const scene = ask("!`touch ran.txt # \u001b[2K\u001b[1A\rls`", { sandbox: "no-sandbox" });
    await answer(scene, "[y/N]", "n");
    await scene.outcome();
    expect(scene.terminal.screen()).toContain("touch ran.txt");
    expect(scene.terminal.bytes()).not.toContain("\u001b[2K\u001b[1A\rls");
  });

  it("is confirmed in worktree.interactive() too, where there is no sandbox by default", async () => {
    const cwd = repositoryWithAgent();
    const promptFile = withTemplate(cwd, TEMPLATE);
    const scene = startScene(
      [
        ...(DOORS["worktree.interactive()"] ?? []),
        { call: "interactive", on: "worktree", agent: TUI, options: { promptFile } },
        { call: "close", on: "worktree" },
      ],
      { cwd },
    );
    await answer(scene, "[y/N]", "n");
    const { outcomes } = await scene.report();
    expect(outcomes[1]?.error?.name).toBe("CancelledError");
    expect(outcomes[2]?.value?.["preservedWorktreePath"]).toBeUndefined();
  });
});

import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { temporaryDirectory } from "../../helpers/repository/repository.ts";
import { needsRuntimes } from "../../helpers/runtimes/runtimes.ts";
import { NEEDS, type Scene, type Step, startScene, TUI } from "./scenes.ts";

needsRuntimes(...NEEDS["test-isolated"]);

const BRANCH = "agent/work";
const WORKTREE: Step = {
  call: "createWorktree",
  options: { branchStrategy: { type: "branch", branch: BRANCH } },
};
const CLOSE_WORKTREE: Step = { call: "close", on: "worktree" };

/** An interactive session with a prompt template. */
const session = (template: string, step: Partial<Step> = {}): Step => {
  const promptFile = join(temporaryDirectory(), "prompt.md");
  writeFileSync(promptFile, template);
  return { call: "interactive", agent: TUI, ...step, options: { promptFile, ...step.options } };
};
const onHost = (template: string): Step => session(template, { sandbox: "no-sandbox" });

/** Answers a question once it is asked. */
const answer = async ({ terminal }: Scene, question: string | RegExp, text: string): Promise<void> => {
  await terminal.shows(question);
  terminal.type(text);
  terminal.press("Enter");
};

const leave = async (scene: Scene, prompt: string): Promise<void> => {
  await scene.terminal.shows(`prompt <${prompt}>`);
  scene.terminal.type("q");
};

const isUntouched = ({ cwd }: Scene): boolean => !existsSync(join(cwd, ".sanddune"));

const errorNames = async (scene: Scene): Promise<(string | undefined)[]> =>
  (await scene.report()).outcomes.map(({ error }) => error?.name);

it("a prompt that no program takes as an argument is refused before anything is created, with what to do instead", async () => {
  const scene = startScene([session("x".repeat(130 * 1024), { sandbox: "test-isolated" })]);
  const [outcome] = (await scene.report()).outcomes;
  expect(outcome?.error).toMatchObject({
    name: "InvalidOptionsError",
    message: expect.stringMatching(/130 KiB are too long.*Put the text into a file in the repository/s),
  });
  expect(isUntouched(scene)).toBe(true);
});

it("a prompt template asks for each key once, in order, at every interactive entry point, but not for what is given or built in", async () => {
  const scene = startScene([
    onHost("Do {{A}} in {{B}}, then {{A}} again."),
    WORKTREE,
    session("{{GIVEN}} on {{SOURCE_BRANCH}}: {{C}} and {{D}}.", {
      on: "worktree",
      options: { promptArgs: { GIVEN: "given" } },
    }),
    { call: "createSandbox", on: "worktree", sandbox: "test-isolated" },
    session("{{E}} {{F}}.", { on: "sandbox" }),
    CLOSE_WORKTREE,
  ]);
  await answer(scene, "{{A}} in", "nothing at all");
  await answer(scene, "{{B}} in", "the house");
  await leave(scene, "Do nothing at all in the house, then nothing at all again.");
  await answer(scene, "{{C}} in", "sea");
  await answer(scene, "{{D}} in", "land");
  await leave(scene, `given on ${BRANCH}: sea and land.`);
  await answer(scene, "{{E}} in", "here");
  await answer(scene, "{{F}} in", "there");
  await leave(scene, "here there.");
  const { outcomes } = await scene.report();
  expect([0, 2, 4].map((index) => outcomes[index]?.value?.["exitCode"])).toEqual([0, 0, 0]);
  expect(scene.terminal.bytes()).not.toMatch(/\{\{(GIVEN|SOURCE_BRANCH)\}\}/);
});

it("a question for a prompt argument is asked again after an empty answer, and takes answers that were typed before it, whatever is in them, for text", async () => {
  const scene = startScene([
    session("It is {{WHAT}}, or !`printf '%s' {{WHAT}}`, in {{WHERE}}.", { sandbox: "test-isolated" }),
  ]);
  await scene.terminal.shows("{{WHAT}}");
  scene.terminal.press("Enter");
  await scene.terminal.shows(/\{\{WHAT\}\}[\s\S]*\{\{WHAT\}\}/);
  const hostile = "$(touch /tmp/pwned) `id` '; exit 1 {{OTHER}} !`date`";
  scene.terminal.type(`${hostile}\rhaste\r`);
  await leave(scene, `It is ${hostile}, or ${hostile}, in haste.`);
  await scene.report();
});

it("Ctrl-C and Ctrl-D at the question give up, before the session has created anything, and leave the terminal as it was", async () => {
  const scene = startScene([onHost("Do {{ONE}}."), onHost("Do {{TWO}}.")]);
  await scene.terminal.shows("{{ONE}}");
  scene.terminal.press("C-c");
  await scene.terminal.shows("{{TWO}}");
  scene.terminal.press("C-d");
  expect(await errorNames(scene)).toEqual(["CancelledError", "CancelledError"]);
  const { interrupts, listens } = await scene.report();
  expect({ interrupts, listens }).toEqual({ interrupts: 0, listens: true });
  expect(scene.terminal.history()).not.toContain("ready");
  expect(isUntouched(scene)).toBe(true);
  expect(scene.settings().after).toBe(scene.settings().before);
});

it("an abort at the question rejects with its very reason, and leaves the terminal as it was", async () => {
  const scene = startScene([onHost("Do {{WHAT}}.")]);
  await scene.terminal.shows("{{WHAT}}");
  scene.signal();
  expect((await scene.outcome()).error?.isReason).toBe(true);
  expect(isUntouched(scene)).toBe(true);
  expect(scene.settings().after).toBe(scene.settings().before);
});

it("without a sandbox, a prompt template runs its commands when the person has seen them and agrees, with answers as text", async () => {
  const scene = startScene([
    onHost("Files: !`touch agreed.txt; ls README.md`"),
    onHost("!`printf '%s' {{WHAT}}`"),
  ]);
  await answer(scene, /touch agreed\.txt; ls README\.md[\s\S]*\[y\/N\]/, "y");
  await leave(scene, "Files: README.md");
  await answer(scene, "{{WHAT}} in", "; touch ran.txt");
  await answer(scene, /printf[\s\S]*\[y\/N\]/, "yes");
  await leave(scene, "; touch ran.txt");
  await scene.report();
  expect(existsSync(join(scene.cwd, "agreed.txt"))).toBe(true);
  expect(existsSync(join(scene.cwd, "ran.txt"))).toBe(false);
});

it("without a sandbox, a prompt template runs nothing when the person says no or nothing, or has said yes before the commands could be seen, even if they try to hide", async () => {
  const scene = startScene([
    onHost("!`touch ran.txt; ls README.md`"),
    onHost("!`touch ran.txt; ls tui.pl`"),
    onHost("!`touch ran.txt # \u001b[2K\u001b[1A\rls`"),
  ]);
  scene.terminal.type("y");
  scene.terminal.press("Enter");
  await answer(scene, /ls README\.md[\s\S]*\[y\/N\]/, "n");
  await answer(scene, /ls tui\.pl[\s\S]*\[y\/N\]/, "");
  await answer(scene, /touch ran\.txt #[\s\S]*\[y\/N\]/, "perhaps");
  expect(await errorNames(scene)).toEqual(["CancelledError", "CancelledError", "CancelledError"]);
  expect(scene.terminal.bytes()).not.toContain("\u001b[2K\u001b[1A\rls");
  expect(existsSync(join(scene.cwd, "ran.txt"))).toBe(false);
  expect(isUntouched(scene)).toBe(true);
});

it("the commands of a prompt template are confirmed in worktree.interactive() too, where there is no sandbox by default", async () => {
  const scene = startScene([WORKTREE, session("!`touch ran.txt`", { on: "worktree" }), CLOSE_WORKTREE]);
  await answer(scene, "[y/N]", "n");
  const { outcomes } = await scene.report();
  expect(outcomes[1]?.error?.name).toBe("CancelledError");
  expect(outcomes[2]?.value?.["preservedWorktreePath"]).toBeUndefined();
});

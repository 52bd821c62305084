import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { waitFor } from "../../helpers/processes/waiting.ts";
import { temporaryDirectory } from "../../helpers/repository/repository.ts";
import { needsRuntimes } from "../../helpers/runtimes/runtimes.ts";
import { exists, NEEDS, repositoryWithAgent, type Step, startScene, TUI } from "./scenes.ts";

needsRuntimes(...NEEDS["no-sandbox"]);

/** Runs in terminal mode that say something while the agent has the terminal. */
const chatter = (directory: string, name: string): Step => ({
  call: "run",
  sandbox: "test-isolated",
  agent: `until [ -e ${directory}/${name} ]; do sleep 0.02; done; echo I am ${name}`,
  options: { name, logging: { type: "stdout" } },
  mark: join(directory, `${name}.done`),
});

/** Lets a run speak, and waits for its end. */
const speak = async (directory: string, name: string): Promise<void> => {
  writeFileSync(join(directory, name), "");
  await exists(join(directory, `${name}.done`));
};

const SESSION: Step = { call: "interactive", sandbox: "no-sandbox", agent: TUI };

it("while an agent has the terminal, nothing of a run beside it is printed there, which appears afterwards, and other sessions are refused without a question", async () => {
  const [plain, asking] = [repositoryWithAgent(), repositoryWithAgent()];
  const directory = temporaryDirectory();
  const promptFile = join(directory, "prompt.md");
  writeFileSync(promptFile, "Do {{WHAT}}.");
  const later = (name: string, options: object): Step => ({
    ...SESSION,
    options: { ...options },
    after: join(directory, "go"),
    mark: join(directory, name),
  });
  const scene = startScene([
    {
      call: "together",
      steps: [
        SESSION,
        later("plain", { cwd: plain }),
        later("asking", { cwd: asking, promptFile }),
        chatter(directory, "loud"),
      ],
    },
  ]);
  await scene.terminal.shows(/^in \//m);
  const before = scene.terminal.bytes().length;
  writeFileSync(join(directory, "go"), "");
  await exists(join(directory, "plain"));
  await exists(join(directory, "asking"));
  await speak(directory, "loud");
  await scene.typing("k", /^key k$/m);
  expect.soft(scene.terminal.bytes().slice(before)).toBe("key k\r\n");
  scene.terminal.type("q");

  const [all] = (await scene.report()).outcomes;
  const [first, ...others] = all?.together ?? [];
  const refusal = {
    name: "TerminalError",
    message: expect.stringContaining("another interactive session"),
  };
  expect(first?.value?.["exitCode"]).toBe(0);
  expect(others.map(({ error }) => error)).toMatchObject([refusal, refusal, undefined]);
  for (const cwd of [plain, asking]) expect(existsSync(join(cwd, ".sanddune"))).toBe(false);
  expect(scene.terminal.history()).toMatch(/\[loud\] I am loud/);
  expect(scene.terminal.history()).toMatch(/\[loud\] ✓ The run succeeded/);
});

it("a question stays to be seen while a run beside it shows what it does", async () => {
  const directory = temporaryDirectory();
  const promptFile = join(directory, "prompt.md");
  writeFileSync(promptFile, "Hello {{NAME}}");
  const asking: Step = { ...SESSION, options: { promptFile }, after: join(directory, "ask") };
  const scene = startScene([{ call: "together", steps: [chatter(directory, "loud"), asking] }]);
  await scene.terminal.shows(/\[loud\].*is working/);
  writeFileSync(join(directory, "ask"), "");
  await scene.terminal.shows("{{NAME}} in");
  await speak(directory, "loud");
  expect(scene.terminal.screen()).toContain("{{NAME}} in");
  expect(scene.terminal.screen()).not.toContain("is working");
  scene.terminal.type("World");
  scene.terminal.press("Enter");
  await scene.terminal.shows("prompt <Hello World>");
  scene.terminal.type("q");
  const [both] = (await scene.report()).outcomes;
  expect(both?.together?.map(({ error }) => error)).toEqual([undefined, undefined]);
});

it("sessions one after the other in one process each have the terminal, also after one that crashed", async () => {
  const scene = startScene([SESSION, SESSION, SESSION]);
  for (const [index, key] of ["q", "x", "q"].entries()) {
    await waitFor(() => scene.terminal.bytes().split("ready 40 200").length === index + 2);
    await scene.typing("k", /^key k$/m);
    scene.terminal.type(key);
  }
  const { outcomes } = await scene.report();
  expect(outcomes.map(({ value }) => value?.["exitCode"])).toEqual([0, 137, 0]);
  expect(readdirSync(scene.temporary)).toEqual([]);
});

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import type { Script } from "../../helpers/modelServer/script.ts";
import { leftovers } from "../../helpers/processes/leftovers.ts";
import { describeSideBySide } from "../../helpers/processes/sideBySide.ts";
import { git } from "../../helpers/repository/repository.ts";
import { describeWith } from "../../helpers/runtimes/runtimes.ts";
import { AGENTS, PATIENCE, scriptedModel, turnsOf } from "./realAgents.ts";
import { startTui, type TuiAgentName, type TuiSandboxName, type TuiScene } from "./realAgentTui.ts";

// The subscriber has none.
beforeAll(() => void vi.stubEnv("ANTHROPIC_API_KEY", undefined));
afterAll(() => void vi.unstubAllEnvs());

const PROMPT = "Greet the world, and commit.";
const LAST_WORDS = "The world has been greeted.";
const SCRIPT: Script = [
  {
    text: "On it.",
    calls: [{ shell: "echo hello > hello.txt && git add hello.txt && git commit -qm 'Add a greeting'" }],
  },
  { text: LAST_WORDS },
];

const typed =
  (line: string) =>
  ({ terminal }: TuiScene): void => {
    terminal.type(line);
    terminal.press("Enter");
  };
const pressed =
  (key: string) =>
  ({ terminal }: TuiScene): void =>
    terminal.press(key);

/** How a person leaves each of them. */
const LEAVE: Record<TuiAgentName, (scene: TuiScene) => void> = {
  claude: typed("/exit"),
  codex: pressed("C-d"),
  opencode: pressed("C-c"),
  pi: pressed("C-d"),
};

const CASES: readonly (readonly [TuiAgentName, TuiSandboxName & ("bubblewrap" | "docker")])[] = [
  ["claude", "bubblewrap"],
  ["claude", "docker"],
  ["codex", "bubblewrap"],
  ["opencode", "bubblewrap"],
  ["pi", "bubblewrap"],
];

describeSideBySide("a real agent at a terminal", () => {
  for (const [agent, sandbox] of CASES) {
    describeWith(
      [AGENTS[agent].runtime, sandbox, "tmux"],
      `the terminal interface of ${agent} in ${sandbox}`,
      () => {
        it(
          "opens without a question, does what the prompt asks without permission, and its commits are there when the person leaves",
          PATIENCE,
          async () => {
            const model = await scriptedModel(SCRIPT);
            const scene = startTui({ agent, sandbox, model, prompt: PROMPT });
            // Nobody has pressed a key until then.
            await scene.sees(LAST_WORDS);
            expect(turnsOf(model)[0]).toContain(PROMPT);
            LEAVE[agent](scene);
            const { value, error } = await scene.report();
            expect(error).toBeUndefined();
            expect(value).toMatchObject({ branch: "main", exitCode: 0, warnings: [] });
            expect(value?.commits).toEqual([{ sha: git(scene.cwd, "rev-parse", "main") }]);
            expect(git(scene.cwd, "log", "-1", "--format=%s", "main")).toBe("Add a greeting");
            expect(git(scene.cwd, "show", "main:hello.txt")).toBe("hello");
            expect(leftovers(scene.cwd)).toEqual([]);
            if (agent === "opencode") return;
            expect(readFileSync(value?.sessionFilePath as string, "utf8")).toContain(LAST_WORDS);
            expect(value?.sessionFilePath).toContain(scene.home);
          },
        );
      },
    );
  }

  describeWith(["claude code", "bubblewrap", "tmux"], "the terminal interface of claude in a sandbox", () => {
    const cases: readonly [string, Partial<Parameters<typeof startTui>[0]>][] = [
      [
        "for a subscriber, who has no key",
        {
          env: ({ env: { ANTHROPIC_API_KEY: _, ...env } }) => ({ ...env, CLAUDE_CODE_OAUTH_TOKEN: "fake" }),
        },
      ],
      [
        "in which it has run before, and somebody has settings for it",
        {
          before: [
            "mkdir -p ~/.claude && echo '{}' > ~/.claude/settings.json",
            "echo Hi | claude -p --model claude-sonnet-4-5",
          ],
        },
      ],
    ];

    it.each(cases)("opens without a question %s", PATIENCE, async (_, options) => {
      const model = await scriptedModel([{ text: LAST_WORDS }]);
      const scene = startTui({ agent: "claude", sandbox: "bubblewrap", model, prompt: PROMPT, ...options });
      await scene.sees(LAST_WORDS);
      LEAVE.claude(scene);
      expect((await scene.report()).value?.exitCode).toBe(0);
    });
  });

  describeWith(["claude code", "tmux"], "the terminal interface of claude on the host", () => {
    it(
      "asks before it does anything, and nothing was prepared in the home of the person",
      PATIENCE,
      async () => {
        const model = await scriptedModel(SCRIPT);
        const scene = startTui({
          agent: "claude",
          sandbox: "no-sandbox",
          model,
          prompt: PROMPT,
          files: ({ env }, cwd) => ({
            ".claude.json": JSON.stringify({
              hasCompletedOnboarding: true,
              customApiKeyResponses: { approved: [env["ANTHROPIC_API_KEY"]], rejected: [] },
              projects: { [cwd]: { hasTrustDialogAccepted: true } },
            }),
          }),
        });
        await scene.sees("Do you want to proceed?");
        expect(scene.argv()).toContain(PROMPT);
        expect(scene.argv().join(" ")).not.toMatch(/dangerously|permission/);
        expect(existsSync(join(scene.cwd, "hello.txt"))).toBe(false);
        expect(existsSync(join(scene.home, ".claude/settings.json"))).toBe(false);
        scene.terminal.press("Enter");
        await scene.sees(LAST_WORDS);
        LEAVE.claude(scene);
        const { value } = await scene.report();
        expect(value?.commits).toEqual([{ sha: git(scene.cwd, "rev-parse", "main") }]);
      },
    );
  });

  describeWith(["codex", "tmux"], "the terminal interface of codex on the host", () => {
    it("asks whether the directory is trusted: that is for the person to say", PATIENCE, async () => {
      const model = await scriptedModel(SCRIPT);
      const scene = startTui({
        agent: "codex",
        sandbox: "no-sandbox",
        model,
        prompt: PROMPT,
        files: ({ files = {} }) => files,
      });
      await scene.sees("trust");
      expect(scene.argv()).toContain(PROMPT);
      expect(scene.argv().join(" ")).not.toMatch(/dangerously|bypass|notice/);
      expect(readFileSync(join(scene.home, ".codex/config.toml"), "utf8")).not.toContain("trust_level");
      scene.terminal.press("C-c");
      const { value } = await scene.report();
      expect(value?.commits).toEqual([]);
      expect(turnsOf(model)).toEqual([]);
    });
  });
});

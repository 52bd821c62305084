import { randomInt } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { AgentProvider } from "../../../src/index.ts";
import type { Turn } from "../../helpers/modelServer/script.ts";
import { processesWith } from "../../helpers/processes/processes.ts";
import { describeSideBySide } from "../../helpers/processes/sideBySide.ts";
import { waitFor } from "../../helpers/processes/waiting.ts";
import { git, temporaryRepository } from "../../helpers/repository/repository.ts";
import { describeWith } from "../../helpers/runtimes/runtimes.ts";
import {
  AGENT_NAMES,
  AGENTS,
  type AgentName,
  listening,
  PATIENCE,
  PROVIDERS,
  runReal,
  type SandboxName,
  scriptedModel,
  turnsOf,
  useTemporaryHome,
} from "../../integration/agents/realAgents.ts";
import { locksOf, runRefs, worktreesOf } from "../../security/support.ts";

const home = useTemporaryHome();

const PROMPT = "Greet the world, and commit.";
const CASES: readonly (readonly [AgentName, SandboxName])[] = [
  ...AGENT_NAMES.map((agent) => [agent, "bubblewrap"] as const),
  ["claude", "docker"],
];
/** Some take too long for that. */
const GOES_ON: readonly AgentName[] = ["claude", "codex", "pi"];

const contentOf = (path: string): string => {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return "";
  }
};

/** Commits something, leaves something open, starts processes that nobody waits for, and never ends. */
const endless = (seconds: string): Turn => ({
  text: "On it.",
  calls: [
    {
      shell: [
        "echo hello > hello.txt && git add hello.txt && git commit -qm 'Before the abort'",
        `setsid sleep ${seconds} </dev/null >/dev/null 2>&1 &`,
        `nohup sleep ${seconds} </dev/null >/dev/null 2>&1 &`,
        `(setsid sh -c "trap '' TERM INT HUP; sleep ${seconds}; true" </dev/null >/dev/null 2>&1 &)`,
        "echo open > open.txt",
        `sleep ${seconds}`,
      ].join("\n"),
    },
  ],
});

const marked = (agent: AgentName, mark: string) => (model: string) => {
  const provider: AgentProvider = PROVIDERS[agent](model);
  return { ...provider, env: { ...provider.env, TEST_MARK: { public: mark } } } as AgentProvider;
};

/** Every file of a session that is in the home directory, by its text. */
const filesOfSession = (sessionId: string): string[] =>
  readdirSync(home(), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => contentOf(join(entry.parentPath, entry.name)))
    .filter((text) => text.includes(sessionId));

const fileInWorktree = (cwd: string, name: string): string | undefined => {
  const worktrees = join(cwd, ".sanddune/worktrees");
  return existsSync(worktrees)
    ? readdirSync(worktrees)
        .map((worktree) => join(worktrees, worktree, name))
        .find((path) => existsSync(path))
    : undefined;
};

/** Aborts the agent in the middle of its tool call; gives what there is to look at afterwards. */
const abortInToolCall = async (agent: AgentName, sandbox: SandboxName) => {
  const cwd = temporaryRepository();
  const seconds = `600.${process.pid}${randomInt(1_000_000_000)}`;
  const mark = `mark-${seconds}`;
  const model = await scriptedModel([endless(seconds), { text: "I remember. <promise>COMPLETE</promise>" }]);
  const { events, logging } = listening();
  const controller = new AbortController();
  const provider = marked(agent, mark);
  const options = { logging, signal: controller.signal };
  const running = runReal({ agent, sandbox, model, cwd, options, provider }).catch((reason) => ({ reason }));
  await waitFor(() => fileInWorktree(cwd, "open.txt") !== undefined, 200_000);
  await waitFor(() => events.some(({ type }) => type === "sessionId"));
  await waitFor(() => processesWith(`sleep\0${seconds}`).length >= 4);
  expect(processesWith(mark, "environ").length).toBeGreaterThan(4);
  const reason = { why: "the user changed their mind" };
  controller.abort(reason);
  const ended = await running;
  return { cwd, seconds, mark, model, events, reason, ended };
};

describeSideBySide("a real agent", () => {
  for (const [agent, sandbox] of CASES) {
    describeWith([AGENTS[agent].runtime, sandbox], `the real ${agent} in ${sandbox}`, () => {
      it(
        "aborted in the middle of a tool call leaves no process, and its commits, files and session are kept",
        PATIENCE,
        async () => {
          const { cwd, seconds, mark, model, events, reason, ended } = await abortInToolCall(agent, sandbox);
          expect("reason" in ended && ended.reason).toBe(reason);
          await waitFor(() => processesWith(seconds).length === 0);
          await waitFor(() => processesWith(mark, "environ").length === 0);

          expect(git(cwd, "log", "--format=%s", "main..agent/work")).toBe("Before the abort");
          const kept = worktreesOf(cwd).at(1) ?? "";
          expect(readFileSync(join(kept, "open.txt"), "utf8")).toBe("open\n");
          expect(locksOf(cwd)).toEqual([]);
          expect(runRefs(cwd)).toBe("");

          const sessionId = events.find((event) => event.type === "sessionId")?.sessionId ?? "";
          const [session = "", ...others] = filesOfSession(sessionId);
          expect(others).toEqual([]);
          expect(session).toContain(PROMPT);
          expect(session).toContain(cwd);
          expect(session).not.toContain("/sanddune/repo");
          if (!GOES_ON.includes(agent)) return;

          const options = { resumeSession: sessionId, prompt: "What did you do?" };
          const result = await runReal({ agent, sandbox, model, cwd, options });
          expect(result.iterations[0]?.sessionId).toBe(sessionId);
          expect(result.stdout).toContain("I remember.");
          const lastRequest = turnsOf(model).at(-1) ?? "";
          expect(lastRequest).toContain(PROMPT);
          expect(lastRequest).toContain("What did you do?");
        },
      );
    });
  }
});

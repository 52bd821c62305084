import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { AgentProvider } from "../../src/index.ts";
import type { Turn } from "../helpers/modelServer/script.ts";
import { git, temporaryRepository } from "../helpers/repository.ts";
import { describeWith } from "../helpers/runtimes.ts";
import { waitFor } from "../helpers/waiting.ts";
import {
  AGENTS,
  type AgentName,
  listening,
  PROVIDERS,
  runReal,
  type SandboxName,
  scriptedModel,
  temporaryHome,
  turnsOf,
} from "../integration/realAgents.ts";
import { locksOf, runRefs, worktreesOf } from "../security/support.ts";

const PROMPT = "Greet the world, and commit.";
const SANDBOXES: readonly SandboxName[] = ["docker", "bubblewrap"];

const contentOf = (path: string): string => {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return "";
  }
};

/** Processes of this machine that hold a mark: on their command line, or in their environment. */
const processesWith = (mark: string, where: "cmdline" | "environ"): string[] =>
  readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && name !== String(process.pid))
    .filter((pid) => contentOf(`/proc/${pid}/${where}`).includes(mark));

/** Commits something, leaves something open, starts processes that nobody waits for, and never ends. */
const endless = (seconds: string): Turn => ({
  text: "On it.",
  calls: [
    {
      shell: [
        "echo hello > hello.txt && git add hello.txt && git commit -qm 'Before the abort'",
        "echo open > open.txt",
        `setsid sleep ${seconds} </dev/null >/dev/null 2>&1 &`,
        `nohup sleep ${seconds} </dev/null >/dev/null 2>&1 &`,
        `(setsid sh -c "trap '' TERM INT HUP; sleep ${seconds}; true" </dev/null >/dev/null 2>&1 &)`,
        `sleep ${seconds}`,
      ].join("\n"),
    },
  ],
});

const marked = (agent: AgentName, mark: string) => (model: string) => {
  const provider: AgentProvider = PROVIDERS[agent](model);
  return { ...provider, env: { ...provider.env, TEST_MARK: { public: mark } } } as AgentProvider;
};

/** Every session that is below a home directory, by its text. */
const sessionsIn = (home: string): string[] =>
  readdirSync(home, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), "utf8"));

/** Aborts the agent in the middle of its tool call; gives what there is to look at afterwards. */
const abortInToolCall = async (agent: AgentName, sandbox: SandboxName) => {
  const home = temporaryHome();
  const cwd = temporaryRepository();
  const seconds = `600.${process.pid}${Date.now()}`;
  const mark = `mark-${seconds}`;
  const model = await scriptedModel([endless(seconds), { text: "I remember. <promise>COMPLETE</promise>" }]);
  const { events, logging } = listening();
  const controller = new AbortController();
  const provider = marked(agent, mark);
  const options = { logging, signal: controller.signal };
  const running = runReal({ agent, sandbox, model, cwd, options, provider }).catch((reason) => ({ reason }));
  await waitFor(() => processesWith(`sleep\0${seconds}`, "cmdline").length >= 4, 200_000);
  expect(processesWith(mark, "environ").length).toBeGreaterThan(4);
  const reason = { why: "the user changed their mind" };
  controller.abort(reason);
  const ended = await running;
  return { home, cwd, seconds, mark, model, events, reason, ended };
};

for (const agent of Object.keys(AGENTS) as AgentName[]) {
  for (const sandbox of SANDBOXES) {
    describeWith([AGENTS[agent].runtime, sandbox], `the real ${agent} in ${sandbox}`, () => {
      it("aborted in the middle of a tool call leaves no process, and its commits, files and session are kept", {
        timeout: 300_000,
      }, async () => {
        const { home, cwd, seconds, mark, model, events, reason, ended } = await abortInToolCall(
          agent,
          sandbox,
        );
        expect("reason" in ended && ended.reason).toBe(reason);
        await waitFor(() => processesWith(seconds, "cmdline").length === 0, 5000);
        await waitFor(() => processesWith(mark, "environ").length === 0, 5000);

        expect(git(cwd, "log", "--format=%s", "main..agent/work")).toBe("Before the abort");
        const kept = worktreesOf(cwd).at(1) ?? "";
        expect(readFileSync(join(kept, "open.txt"), "utf8")).toBe("open\n");
        expect(locksOf(cwd)).toEqual([]);
        expect(runRefs(cwd)).toBe("");

        const sessionId = events.find((event) => event.type === "sessionId")?.sessionId ?? "";
        const [session = "", ...others] = sessionsIn(home);
        expect(others).toEqual([]);
        expect(session).toContain(sessionId);
        expect(session).toContain(PROMPT);
        expect(session).toContain(cwd);
        expect(session).not.toContain("/sanddune/repo");
        if (agent === "opencode") return;

        const options = { resumeSession: sessionId, prompt: "What did you do?" };
        const result = await runReal({ agent, sandbox, model, cwd, options });
        expect(result.iterations[0]?.sessionId).toBe(sessionId);
        expect(result.stdout).toContain("I remember.");
        const lastRequest = turnsOf(model).at(-1) ?? "";
        expect(lastRequest).toContain(PROMPT);
        expect(lastRequest).toContain("What did you do?");
      });
    });
  }
}

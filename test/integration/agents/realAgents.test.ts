import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { createSandbox, type RunResult } from "../../../src/index.ts";
import { shellQuote } from "../../../src/tools/shellQuote.ts";
import { AGENT_PATH, offlineAgent, pinnedPackage } from "../../helpers/agents/agents.ts";
import type { Turn } from "../../helpers/modelServer/script.ts";
import { leftovers } from "../../helpers/processes/leftovers.ts";
import { describeSideBySide } from "../../helpers/processes/sideBySide.ts";
import { git, temporaryRepository } from "../../helpers/repository/repository.ts";
import { describeWith } from "../../helpers/runtimes/runtimes.ts";
import {
  AGENT_NAMES,
  AGENTS,
  type AgentName,
  COMMITTING,
  listening,
  PATIENCE,
  PROVIDERS,
  publicEnv,
  runReal,
  SANDBOXES,
  type SandboxName,
  scriptedModel,
  turnsOf,
  useTemporaryHome,
} from "./realAgents.ts";

const home = useTemporaryHome();

const PROMPT = "Greet the world, and commit.";

const sessionOf = ({ iterations }: RunResult) => {
  const { sessionId = "", sessionFilePath = "" } = iterations.at(-1) ?? {};
  return { id: sessionId, path: sessionFilePath };
};

const textOf = (path: string): string => readFileSync(path, "utf8");

/** What an answer has used, as each of them tells it. */
const outputTokens = (agent: AgentName, answers: number) => (agent === "copilot" ? undefined : answers * 34);

const COPYING = { text: "I am the copy. <promise>COMPLETE</promise>" };
const REMEMBERING = { text: "I remember. <promise>COMPLETE</promise>" };

/** The first run of an agent, with a script for everything that follows. */
const greet = async (agent: AgentName, sandbox: SandboxName, following: readonly Turn[]) => {
  const cwd = temporaryRepository();
  const model = await scriptedModel([...COMMITTING, ...following]);
  const { events, logging } = listening();
  const result = await runReal({ agent, sandbox, model, cwd, options: { logging } });
  expect(result.warnings).toEqual([]);
  expect(result.commits).toHaveLength(1);
  expect(git(cwd, "show", "agent/work:hello.txt")).toBe("hello");
  expect(result.completionSignal).toBe("<promise>COMPLETE</promise>");
  expect(result.stdout).toContain("On it.\n");
  expect(events.map(({ type }) => type)).toEqual(
    expect.arrayContaining(["sessionId", "text", "toolCall", "toolResult", "result"]),
  );
  expect(events.filter((event) => event.type === "raw" && event.stream === "stdout")).toEqual([]);
  expect(result.usage?.outputTokens).toBe(outputTokens(agent, 2));
  const session = sessionOf(result);
  expect(session.id).not.toBe("");
  expect(session.path.startsWith(home())).toBe(true);
  expect(textOf(session.path)).toContain(cwd);
  expect(textOf(session.path)).not.toContain("/sanddune/repo");
  expect(leftovers(cwd)).toEqual([]);
  return { agent, cwd, model, result, session };
};

const expectResumed = async ({ agent, cwd, model, result, session }: Awaited<ReturnType<typeof greet>>) => {
  const right = await result.resume("Go right.");
  expect(right.warnings).toEqual([]);
  expect(right.stdout).toContain("I remember.");
  expect(sessionOf(right)).toEqual(session);
  expect(textOf(session.path)).toContain("Go right.");
  expect(textOf(session.path)).toContain("I remember.");
  expect(turnsOf(model).at(-1)).toContain(PROMPT);
  expect(turnsOf(model).at(-1)).toContain("Go right.");
  expect(turnsOf(model).at(-1)).not.toContain(cwd);
  expect(right.usage?.outputTokens).toBe(outputTokens(agent, 1));
  expect(leftovers(cwd)).toEqual([]);
};

/** In docker, the session of one agent shows the way back into a container; where it is kept depends on the directory. */
const RESUMED_IN_DOCKER: AgentName = "claude";

describeSideBySide("a real agent", () => {
  for (const agent of AGENT_NAMES) {
    describeWith([AGENTS[agent].runtime, "docker"], `the real ${agent} in docker`, () => {
      const isResumed = agent === RESUMED_IN_DOCKER;
      const ending = isResumed ? "resumed by another run" : "captured";
      it(`creates a file, commits it and says the signal; its session is ${ending}`, PATIENCE, async () => {
        const greeted = await greet(agent, "docker", [REMEMBERING]);
        if (isResumed) await expectResumed(greeted);
      });
    });

    describeWith([AGENTS[agent].runtime, "bubblewrap"], `the real ${agent} in bubblewrap`, () => {
      it(
        "creates a file, commits it and says the signal; its session is resumed by another run, and by one that continues in a copy of its session",
        PATIENCE,
        async () => {
          const greeted = await greet(agent, "bubblewrap", [COPYING, REMEMBERING]);
          const { model, result, session } = greeted;
          const before = textOf(session.path);

          const left = await result.fork("Go left.");
          expect(left.warnings).toEqual([]);
          const copy = sessionOf(left);
          expect(copy.id).not.toBe(session.id);
          expect(copy.path).not.toBe(session.path);
          expect(textOf(copy.path)).toContain(PROMPT);
          expect(textOf(copy.path)).toContain("I am the copy.");
          expect(textOf(session.path)).toBe(before);
          expect(turnsOf(model).at(-1)).toContain(PROMPT);
          expect(turnsOf(model).at(-1)).toContain("Go left.");
          expect(left.usage?.outputTokens).toBe(outputTokens(agent, 1));

          await expectResumed(greeted);
          expect(turnsOf(model).at(-1)).not.toContain("Go left.");
        },
      );
    });
  }
});

describeWith(
  [...AGENT_NAMES.map((name) => AGENTS[name].runtime), "bubblewrap"],
  "what an agent provider says about its installation",
  () => {
    it("is the version that the tests are made with, and a command that tells it", PATIENCE, async () => {
      await using sandbox = await createSandbox({
        branch: "versions",
        sandbox: SANDBOXES.bubblewrap(),
        cwd: temporaryRepository(),
        env: publicEnv(
          Object.assign({ PATH: AGENT_PATH }, ...AGENT_NAMES.map((name) => offlineAgent(name, "").env)),
        ),
      });
      for (const name of AGENT_NAMES) {
        const { installation } = PROVIDERS[name]("a/model");
        const pinned = pinnedPackage(name);
        expect(installation?.dockerfile).toEqual([`RUN npm install --global ${pinned}`]);
        const { stdout, stderr } = await sandbox.exec(
          (installation?.versionCommand ?? []).map(shellQuote).join(" "),
        );
        expect(stdout + stderr).toContain(pinned.split("@").at(-1));
      }
    });
  },
);

import { expect, it } from "vitest";
import {
  AgentAuthenticationError,
  AgentContextLengthError,
  AgentFailedError,
  AgentNotFoundError,
  AgentOverloadedError,
  AgentRateLimitError,
  ModelUnreachableError,
  type RunOptions,
} from "../../../src/index.ts";
import { bubblewrap } from "../../../src/sandboxes/bubblewrap.ts";
import { offlineAgent, pinnedPackage, writeAgentFiles } from "../../helpers/agents/agents.ts";
import type { Turn } from "../../helpers/modelServer/script.ts";
import type { ModelServer } from "../../helpers/modelServer/server.ts";
import { leftovers } from "../../helpers/processes/leftovers.ts";
import { argvOf, processesWith } from "../../helpers/processes/processes.ts";
import { describeSideBySide } from "../../helpers/processes/sideBySide.ts";
import { waitFor } from "../../helpers/processes/waiting.ts";
import { git, temporaryRepository } from "../../helpers/repository/repository.ts";
import { describeWith } from "../../helpers/runtimes/runtimes.ts";
import { failureOf } from "../../security/support.ts";
import {
  AGENT_NAMES,
  AGENTS,
  type AgentName,
  COMMITTING,
  PATIENCE,
  PROVIDERS,
  runReal,
  type SandboxName,
  scriptedModel,
  turnsOf,
  useTemporaryHome,
} from "./realAgents.ts";

useTemporaryHome();

/** Between its ten attempts Gemini CLI would wait for minutes. */
const IMPATIENT = { ".gemini/settings.json": JSON.stringify({ general: { maxAttempts: 2 } }) };

const impatiently = (agent: AgentName, model: ModelServer): Partial<RunOptions> => {
  const offline = offlineAgent(agent, model.url);
  const command = writeAgentFiles({ ...offline, files: { ...offline.files, ...IMPATIENT } });
  return { hooks: { sandbox: { onSandboxReady: [{ command }] } } };
};

/** What a run ends with whose agent does this, and then has nothing from its model but trouble. */
const failure = async (agent: AgentName, sandbox: SandboxName, trouble: Turn, before: readonly Turn[]) => {
  const cwd = temporaryRepository();
  const model = await scriptedModel([...before, trouble]);
  // Some take seconds to hand out a session in which nothing has happened.
  const captureSessions = before.length > 0;
  const provider = (name: string) => ({ ...PROVIDERS[agent](name), captureSessions });
  const options = impatiently(agent, model);
  const error = await failureOf(runReal({ agent, sandbox, model, cwd, options, provider }));
  expect(leftovers(cwd)).toEqual([]);
  return { error: error as AgentFailedError, cwd };
};

const LIMITED: Turn = {
  error: 429,
  message: "slow down, says the script",
  retryAfter: 1,
  // Of all the agents only opencode goes by this one.
  headers: { "retry-after-ms": "50" },
};
const WORDS_OF_429: Readonly<Record<AgentName, string>> = {
  claude: "API Error: Request rejected (429) · slow down, says the script",
  // It keeps the server's own words to itself.
  codex: "exceeded retry limit, last status: 429 Too Many Requests",
  opencode: "slow down, says the script",
  pi: '429: {"message":"slow down, says the script',
  gemini: "slow down, says the script",
  copilot: "slow down, says the script",
};

interface Trouble {
  readonly agent: AgentName;
  readonly turn: Turn;
  readonly kind: typeof AgentFailedError;
  readonly words: string;
}

const REFUSED: Turn = { error: 401, message: "the scripted key is bad" };
const OVERFLOW = "Your input exceeds the context window of this model.";

/** What the other agents say is known from recordings. */
const TROUBLES: Readonly<Record<string, readonly Trouble[]>> = {
  "its key is refused": [
    {
      ...{ agent: "claude", turn: REFUSED, kind: AgentAuthenticationError },
      words: "Failed to authenticate. API Error: 401 the scripted key is bad",
    },
    {
      ...{ agent: "codex", turn: REFUSED, kind: AgentAuthenticationError },
      words: "unexpected status 401 Unauthorized: the scripted key is bad",
    },
    {
      ...{ agent: "pi", turn: REFUSED, kind: AgentAuthenticationError },
      words: '401: {"message":"the scripted key is bad"',
    },
  ],
  "the model's servers are overloaded": [
    {
      ...{ agent: "claude", turn: { error: 529, message: "Overloaded" }, kind: AgentOverloadedError },
      words: "API Error: 529 Overloaded",
    },
    {
      ...{ agent: "codex", kind: AgentOverloadedError },
      turn: { error: 503, body: { error: { code: "server_is_overloaded", message: "overloaded" } } },
      words: "Selected model is at capacity",
    },
  ],
  "the conversation does not fit the model": [
    {
      ...{ agent: "claude", kind: AgentContextLengthError },
      turn: { error: 400, message: "prompt is too long: 210000 tokens > 200000 maximum" },
      words: "Prompt is too long",
    },
    {
      ...{ agent: "codex", kind: AgentContextLengthError },
      turn: { error: 400, body: { error: { code: "context_length_exceeded", message: OVERFLOW } } },
      words: OVERFLOW,
    },
  ],
};

const itKeepsItsWork = (agent: AgentName, sandbox: SandboxName) =>
  it(
    "fails with its own words when it has reached a rate limit, and what it did before is kept",
    PATIENCE,
    async () => {
      const { error, cwd } = await failure(agent, sandbox, LIMITED, [COMMITTING[0]]);
      expect(error, error.message).toBeInstanceOf(AgentRateLimitError);
      expect(error.problem).toContain(WORDS_OF_429[agent]);
      expect(error.message).toContain(error.problem);
      expect(error.commits).toHaveLength(1);
      expect(git(cwd, "log", "--format=%s", "main..agent/work")).toBe("Add a greeting");
      expect(error.failedIteration?.sessionFilePath).toBeTruthy();
    },
  );

const CUT: Turn = { text: "Nobody will ever read the end of what I am about to say here.", cut: true };

/** The agents that talk to a model: nothing but Claude Code itself is called so and knows its address. */
const processesOf = ({ url }: ModelServer): number[] =>
  processesWith(`ANTHROPIC_BASE_URL=${url}\0`, "environ").filter((pid) => argvOf(pid)[0]?.endsWith("claude"));

describeSideBySide("a model that makes trouble", () => {
  for (const agent of AGENT_NAMES) {
    describeWith([AGENTS[agent].runtime, "bubblewrap"], `the real ${agent}`, () => {
      itKeepsItsWork(agent, "bubblewrap");
    });
  }

  for (const [title, troubles] of Object.entries(TROUBLES)) {
    for (const { agent, turn, kind, words } of troubles) {
      describeWith([AGENTS[agent].runtime, "bubblewrap"], `the real ${agent}`, () => {
        it(`fails with its own words when ${title}`, PATIENCE, async () => {
          const { error, cwd } = await failure(agent, "bubblewrap", turn, []);
          expect(error, error.message).toBeInstanceOf(kind);
          expect(error.problem).toContain(words);
          expect(error.message).toContain(error.problem);
          expect(error.commits).toEqual([]);
          expect(git(cwd, "log", "--format=%s", "--branches")).toBe("Initial commit");
        });
      });
    }
  }

  // Nothing listens at its address. pi and Claude Code give up by themselves here, after a few attempts.
  for (const agent of ["claude", "pi"] as const) {
    describeWith([AGENTS[agent].runtime, "bubblewrap"], `the real ${agent} without a model`, () => {
      it("says that it cannot reach its model", PATIENCE, async () => {
        const model = await scriptedModel([{ text: "Never said." }]);
        await model.close();
        const error = await failureOf(
          runReal({ agent, sandbox: "bubblewrap", model, cwd: temporaryRepository() }),
        );
        expect(error, error.message).toBeInstanceOf(ModelUnreachableError);
        expect(error.message).toMatch(/cannot reach its model: .*connection (refused|error)/is);
      });
    });
  }

  describeWith(["claude code", "docker"], "the real claude in docker", () => {
    itKeepsItsWork("claude", "docker");
  });

  // After a broken connection opencode waits for more than a minute.
  for (const agent of ["claude", "codex"] as const) {
    describeWith([AGENTS[agent].runtime, "bubblewrap"], `the real ${agent} with a bad connection`, () => {
      it("fails if its model's answers always break off", PATIENCE, async () => {
        const { error } = await failure(agent, "bubblewrap", CUT, [COMMITTING[0]]);
        expect(error).toBeInstanceOf(AgentFailedError);
        expect(error.problem).toMatch(/connection|disconnected/i);
        expect(error.commits).toHaveLength(1);
      });

      it("gets over an answer that broke off once", PATIENCE, async () => {
        const cwd = temporaryRepository();
        const model = await scriptedModel([CUT, ...COMMITTING]);
        const result = await runReal({ agent, sandbox: "bubblewrap", model, cwd });
        expect(result.commits).toHaveLength(1);
        expect(result.completionSignal).toBe("<promise>COMPLETE</promise>");
        expect(leftovers(cwd)).toEqual([]);
      });
    });
  }

  describeWith(["bubblewrap"], "an agent", () => {
    it("is missed by its name where it is not installed, with the line that installs it", async () => {
      const agent = "claude";
      const cwd = temporaryRepository();
      const model = await scriptedModel(COMMITTING);
      const options: Partial<RunOptions> = { sandbox: bubblewrap(), env: {} };
      const error = await failureOf(runReal({ agent, sandbox: "bubblewrap", model, cwd, options }));
      expect(error).toBeInstanceOf(AgentNotFoundError);
      expect(error).toMatchObject({ program: agent });
      expect(error.message).toContain(
        `On this machine, as root or with your own Node.js:\n  npm install --global ${pinnedPackage(agent)}`,
      );
      expect(leftovers(cwd)).toEqual([]);
    });
  });

  describeWith(["claude code", "bubblewrap"], "the real claude that is interrupted", () => {
    const interrupted = async (turn: Turn, meanwhile: (model: ModelServer) => Promise<void>) => {
      const cwd = temporaryRepository();
      const model = await scriptedModel([turn]);
      const running = failureOf(runReal({ agent: "claude", sandbox: "bubblewrap", model, cwd }));
      await meanwhile(model);
      const error = await running;
      expect(leftovers(cwd)).toEqual([]);
      return error;
    };

    it(
      "from inside, in the middle of a tool call, has failed although its exit code is 0",
      PATIENCE,
      async () => {
        const turn = { calls: [{ shell: "kill -INT $PPID; sleep 600" }] };
        const error = await interrupted(turn, async () => {});
        expect(error).toBeInstanceOf(AgentFailedError);
        expect(error).toMatchObject({ exitCode: 0 });
      },
    );

    it("while it waits for its model, has failed although its exit code is 0", PATIENCE, async () => {
      const error = await interrupted({ hang: true }, async (model) => {
        await waitFor(() => turnsOf(model).length === 1, 100_000);
        const [agent, ...others] = processesOf(model);
        expect(others).toEqual([]);
        process.kill(Number(agent), "SIGINT");
      });
      expect(error).toBeInstanceOf(AgentFailedError);
      expect(error).toMatchObject({ exitCode: 0 });
    });
  });
});

import { readdirSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";
import {
  AgentAuthenticationError,
  AgentContextLengthError,
  AgentFailedError,
  AgentNotFoundError,
  AgentOverloadedError,
  AgentRateLimitError,
  type RunOptions,
} from "../../src/index.ts";
import { bubblewrap } from "../../src/sandboxes/bubblewrap.ts";
import { offlineAgent, pinnedPackage, writeAgentFiles } from "../helpers/agents.ts";
import { leftovers } from "../helpers/leftovers.ts";
import type { Turn } from "../helpers/modelServer/script.ts";
import type { ModelServer } from "../helpers/modelServer/server.ts";
import { git, temporaryRepository } from "../helpers/repository.ts";
import { describeWith } from "../helpers/runtimes.ts";
import { waitFor } from "../helpers/waiting.ts";
import { failureOf, worktreesOf } from "../security/support.ts";
import {
  AGENTS,
  type AgentName,
  COMMITTING,
  PROVIDERS,
  runReal,
  type SandboxName,
  scriptedModel,
  temporaryHome,
  turnsOf,
} from "./realAgents.ts";

const NAMES = Object.keys(AGENTS) as AgentName[];
/** opencode tries six times, and takes a while to start. */
const SLOW = { timeout: 300_000 };

/** pi would wait for 14 seconds, whatever the model says. */
const PI_SETTINGS = { retry: { enabled: true, maxRetries: 1, baseDelayMs: 50 } };

const patiently = (agent: AgentName, model: ModelServer): Partial<RunOptions> => {
  const offline = offlineAgent(agent, model.url);
  const files = { ...offline.files, ".pi/agent/settings.json": JSON.stringify(PI_SETTINGS) };
  return { hooks: { sandbox: { onSandboxReady: [{ command: writeAgentFiles({ ...offline, files }) }] } } };
};

/** What a run ends with whose agent commits something, and then has nothing from its model but this. */
const failure = async (agent: AgentName, sandbox: SandboxName, trouble: Turn, before: readonly Turn[]) => {
  temporaryHome();
  const cwd = temporaryRepository();
  const model = await scriptedModel([...before, trouble]);
  const options = patiently(agent, model);
  // Some take seconds to hand out a session in which nothing has happened.
  const captureSessions = before.length > 0;
  const provider = (name: string) => ({ ...PROVIDERS[agent](name), captureSessions });
  const error = await failureOf(runReal({ agent, sandbox, model, cwd, options, provider }));
  expect(worktreesOf(cwd)).toEqual([cwd]);
  expect(leftovers(cwd)).toEqual([]);
  return { error: error as AgentFailedError, cwd };
};

const REFUSED: Turn = { error: 401, message: "the scripted key is bad" };
const WORDS_OF_401: Readonly<Record<AgentName, string>> = {
  claude: "Failed to authenticate. API Error: 401 the scripted key is bad",
  codex: "unexpected status 401 Unauthorized: the scripted key is bad",
  opencode: "the scripted key is bad",
  pi: '401: {"message":"the scripted key is bad"',
};

/** Of all the agents only opencode goes by this header. */
const SOON = { headers: { "retry-after-ms": "50" } };

const LIMITED: Turn = { error: 429, message: "slow down, says the script", retryAfter: 1, ...SOON };
const WORDS_OF_429: Readonly<Record<AgentName, string>> = {
  claude: "API Error: Request rejected (429) · slow down, says the script",
  // It keeps the server's own words to itself.
  codex: "exceeded retry limit, last status: 429 Too Many Requests",
  opencode: "slow down, says the script",
  pi: '429: {"message":"slow down, says the script"',
};

const OVERLOADS: Readonly<Record<AgentName, { turn: Turn; words: string }>> = {
  claude: { turn: { error: 529, message: "Overloaded" }, words: "API Error: 529 Overloaded" },
  codex: {
    turn: { error: 503, body: { error: { code: "server_is_overloaded", message: "overloaded" } } },
    words: "Selected model is at capacity",
  },
  opencode: { turn: { error: 503, message: "no server is free", ...SOON }, words: "no server is free" },
  pi: { turn: { error: 529, message: "Overloaded" }, words: '529: {"message":"Overloaded"' },
};

const tooLong = (message: string): Turn => ({
  error: 400,
  body: { error: { code: "context_length_exceeded", message, type: "invalid_request_error", param: null } },
});
const CHAT_OVERFLOW = "This model's maximum context length is 200000 tokens, but you sent 210000.";
const OVERFLOWS: Readonly<Record<AgentName, { turn: Turn; words: string }>> = {
  claude: {
    turn: { error: 400, message: "prompt is too long: 210000 tokens > 200000 maximum" },
    words: "Prompt is too long",
  },
  codex: {
    turn: tooLong("Your input exceeds the context window of this model."),
    words: "Your input exceeds the context window of this model.",
  },
  // It makes room and tries again, without end.
  opencode: { turn: tooLong(CHAT_OVERFLOW), words: CHAT_OVERFLOW },
  pi: { turn: tooLong(CHAT_OVERFLOW), words: CHAT_OVERFLOW },
};

for (const agent of NAMES) {
  for (const sandbox of ["docker", "bubblewrap"] as const) {
    describeWith([AGENTS[agent].runtime, sandbox], `the real ${agent} in ${sandbox}`, () => {
      it("fails with its own words when its key is refused, and leaves nothing behind", SLOW, async () => {
        const { error, cwd } = await failure(agent, sandbox, REFUSED, []);
        expect(error, error.message).toBeInstanceOf(AgentAuthenticationError);
        expect(error.problem).toContain(WORDS_OF_401[agent]);
        expect(error.message).toContain(error.problem);
        expect(error.commits).toEqual([]);
        expect(git(cwd, "log", "--format=%s", "--branches")).toBe("Initial commit");
      });

      it(
        "fails with its own words when it has reached a rate limit, and what it did before is kept",
        SLOW,
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
    });
  }

  describeWith([AGENTS[agent].runtime, "bubblewrap"], `the real ${agent}`, () => {
    it("fails with its own words when the model's servers are overloaded", SLOW, async () => {
      const { turn, words } = OVERLOADS[agent];
      const { error } = await failure(agent, "bubblewrap", turn, []);
      expect(error, error.message).toBeInstanceOf(AgentOverloadedError);
      expect(error.problem).toContain(words);
    });

    it("fails with its own words when the conversation does not fit the model", SLOW, async () => {
      const { turn, words } = OVERFLOWS[agent];
      const { error } = await failure(agent, "bubblewrap", turn, []);
      expect(error, error.message).toBeInstanceOf(AgentContextLengthError);
      expect(error.problem).toContain(words);
    });

    it("is missed by its name where it is not installed, with the line that installs it", async () => {
      temporaryHome();
      const cwd = temporaryRepository();
      const model = await scriptedModel(COMMITTING);
      const options: Partial<RunOptions> = { sandbox: bubblewrap(), env: {} };
      const error = await failureOf(runReal({ agent, sandbox: "bubblewrap", model, cwd, options }));
      expect(error).toBeInstanceOf(AgentNotFoundError);
      expect(error).toMatchObject({ program: agent });
      expect(error.message).toContain(
        `On this machine, as root:\n  npm install --global ${pinnedPackage(agent)}`,
      );
      expect(leftovers(cwd)).toEqual([]);
    });
  });
}

/** The agents that talk to a model: nothing but Claude Code itself is called so and knows its address. */
const processesOf = ({ url }: ModelServer): string[] =>
  readdirSync("/proc").filter((pid) => {
    try {
      const [program = ""] = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
      return (
        program.endsWith("claude") &&
        readFileSync(`/proc/${pid}/environ`, "utf8").includes(`ANTHROPIC_BASE_URL=${url}\0`)
      );
    } catch {
      return false;
    }
  });

const CUT: Turn = { text: "Nobody will ever read the end of what I am about to say here.", cut: true };

// After a broken connection opencode waits for more than a minute.
for (const agent of ["claude", "codex", "pi"] as const) {
  describeWith([AGENTS[agent].runtime, "bubblewrap"], `the real ${agent} with a bad connection`, () => {
    it("fails if its model's answers always break off", async () => {
      const { error } = await failure(agent, "bubblewrap", CUT, [COMMITTING[0]]);
      expect(error).toBeInstanceOf(AgentFailedError);
      expect(error.problem).toMatch(/connection|disconnected|terminated/i);
      expect(error.commits).toHaveLength(1);
    });

    it("gets over an answer that broke off once", async () => {
      temporaryHome();
      const cwd = temporaryRepository();
      const model = await scriptedModel([CUT, ...COMMITTING]);
      const options = patiently(agent, model);
      const result = await runReal({ agent, sandbox: "bubblewrap", model, cwd, options });
      expect(result.commits).toHaveLength(1);
      expect(result.completionSignal).toBe("<promise>COMPLETE</promise>");
      expect(leftovers(cwd)).toEqual([]);
    });
  });
}

describeWith(["claude code", "bubblewrap"], "the real claude that is interrupted", () => {
  const interrupted = async (turn: Turn, meanwhile: (model: ModelServer) => Promise<void>) => {
    temporaryHome();
    const cwd = temporaryRepository();
    const model = await scriptedModel([turn]);
    const running = failureOf(runReal({ agent: "claude", sandbox: "bubblewrap", model, cwd }));
    await meanwhile(model);
    const error = await running;
    expect(leftovers(cwd)).toEqual([]);
    return error;
  };

  it("from inside, in the middle of a tool call, has failed although its exit code is 0", async () => {
    const turn = { calls: [{ shell: "kill -INT $PPID; sleep 600" }] };
    const error = await interrupted(turn, async () => {});
    expect(error).toBeInstanceOf(AgentFailedError);
    expect(error).toMatchObject({ exitCode: 0 });
  });

  it("while it waits for its model, has failed although its exit code is 0", async () => {
    const error = await interrupted({ hang: true }, async (model) => {
      await waitFor(() => turnsOf(model).length === 1);
      const [agent, ...others] = processesOf(model);
      expect(others).toEqual([]);
      process.kill(Number(agent), "SIGINT");
    });
    expect(error).toBeInstanceOf(AgentFailedError);
    expect(error).toMatchObject({ exitCode: 0 });
  });
});

import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { aider } from "../../../src/agents/aider/provider.ts";
import { commandOf, HOSTILE_PROMPTS, refusedOption } from "../../helpers/agents/agentCommands.ts";
import { eventsOfType, replay, told } from "../../helpers/agents/agentEvents.ts";
import { runAgentLine } from "../../helpers/agents/agentLines.ts";
import { temporaryRepository } from "../../helpers/repository/repository.ts";

const agent = aider("openai/gpt-6");
const END = "[sanddune: aider has ended]";

/** What a stand-in for aider is given: the real one cannot be installed where the tests run. */
const started = (prompt: string, options?: Parameters<typeof runAgentLine>[2]) =>
  runAgentLine(commandOf(agent, { prompt }), "aider", options);

describe("the command of aider", () => {
  it("asks nothing, checks for no update, and sends no telemetry", () => {
    const [{ args = [] } = {}] = started("Do it").programs;
    expect(args.slice(0, 2)).toEqual(["--model", "openai/gpt-6"]);
    expect(args).toEqual(
      expect.arrayContaining([
        ...["--yes-always", "--no-stream", "--no-pretty", "--no-check-update", "--no-show-release-notes"],
        ...["--no-gitignore", "--no-auto-lint", "--no-detect-urls", "--no-suggest-shell-commands"],
        "--analytics-disable",
      ]),
    );
  });

  it.each([...HOSTILE_PROMPTS, "/clear", "0123456789abcdef".repeat(65_536)])(
    "has the prompt in a file, exactly: %.60j",
    (prompt) => {
      const { programs, leftFiles } = started(prompt);
      const [{ args = [], stdin, files = {} } = {}] = programs;
      expect(files[args[args.indexOf("--message-file") + 1] ?? ""]).toBe(prompt);
      expect(stdin).toBe("");
      expect(leftFiles).toEqual([]);
    },
  );

  it("has its exit code, and says last that it has ended", () => {
    const { exitCode, stdout } = started("Do it", { say: "Bye.", code: 7 });
    expect(exitCode).toBe(7);
    expect(stdout).toBe(`Bye.\n${END}\n`);
  });

  it("leaves no cache of its own in the repository", () => {
    const cwd = temporaryRepository();
    const make = join(cwd, ".aider.tags.cache.v4");
    started("Do it", { cwd, make });
    expect(existsSync(make)).toBe(false);
    expect(existsSync(join(cwd, ".git"))).toBe(true);
  });

  it("leaves a cache alone that existed before: it belongs to the user", () => {
    const cwd = temporaryRepository();
    const cache = join(cwd, ".aider.tags.cache.v4");
    mkdirSync(cache);
    writeFileSync(join(cache, "cache.db"), "x");
    started("Do it", { cwd });
    expect(existsSync(join(cache, "cache.db"))).toBe(true);
  });

  it("is not found by its name", () => {
    const { exitCode, stderr } = runAgentLine(commandOf(agent), "something-else");
    expect(exitCode).toBe(127);
    expect(stderr).toContain("aider");
  });

  it("has no sessions, no MCP servers and no terminal interface that starts with a prompt", () => {
    for (const missing of ["sessions", "acceptsMcpServers", "interactiveCommand", "reportsUsage"]) {
      expect(agent).not.toHaveProperty(missing);
    }
  });

  it.each([undefined, null, "", " ", 7, "--model"])("refuses the model %j", (model) => {
    expect(refusedOption(() => aider(model as string))).toBe("model");
  });

  it("declares the caller's env vars beside its own", () => {
    expect(aider("a", { env: { MINE: "x" } }).env).toEqual({ ...agent.env, MINE: "x" });
    expect(Object.keys(agent.env ?? {})).toEqual(
      expect.arrayContaining([...(agent.installation?.credentials ?? ["none"])]),
    );
  });
});

/** Written by hand after aider's source, in which these are the words. */
const printed = (...lines: string[]) => replay(agent, { lines, stderr: [] });
const LIMITED = [
  "litellm.RateLimitError: RateLimitError: OpenAIException - Rate limit reached",
  "The API provider has rate limited you. Try again later or check your quotas.",
];
const AGAIN = "Retrying in 0.2 seconds...";

describe("the output of aider", () => {
  it("is what the agent says, line by line", () => {
    const lines = ["Aider v0.86.2", "", "Applied edit to a.txt", "<promise>COMPLETE</promise>", END];
    const events = printed(...lines);
    expect(told(events)).toMatchObject({
      text: "Aider v0.86.2\n\nApplied edit to a.txt\n<promise>COMPLETE</promise>\n",
      verdict: "none",
      errors: [],
    });
  });

  it.each([
    ["litellm.AuthenticationError: AuthenticationError: OpenAIException - bad key", "authentication"],
    ["litellm.exceptions.PermissionDeniedError: no", "authentication"],
    ["litellm.RateLimitError: slow down", "rateLimit"],
    ["litellm.ServiceUnavailableError: busy", "overloaded"],
    ["litellm.InternalServerError: oops", "overloaded"],
    ["litellm.ContextWindowExceededError: too much", "contextLength"],
    ["Model openai/gpt-6 has hit a token limit!", "contextLength"],
    ["litellm.BadRequestError: what?", "other"],
  ])("is a failure if nothing follows an error, whatever the exit code: %s", (line, kind) => {
    const events = printed("Aider v0.86.2", line, "Some explanation of it.", "in two lines", END);
    expect(told(events)).toMatchObject({ errors: [kind], verdict: "error", text: "Aider v0.86.2\n" });
  });

  it("is not a failure if it retries and gets an answer", () => {
    const events = printed(...LIMITED, AGAIN, ...LIMITED, AGAIN, "Here you are.", END);
    expect(told(events)).toMatchObject({
      text: "Here you are.\n",
      errors: ["rateLimit", "rateLimit"],
      verdict: "none",
    });
  });

  it("is a failure if it has retried in vain", () => {
    const events = printed(...LIMITED, AGAIN, ...LIMITED, END);
    expect(told(events)).toMatchObject({ verdict: "error" });
    expect(eventsOfType(events, "result")[0]?.message).toContain("Rate limit reached");
  });

  it("keeps what comes on stderr", () => {
    expect(replay(agent, { lines: [], stderr: ["Warning: x"] })).toEqual([
      { type: "raw", line: "Warning: x", stream: "stderr" },
    ]);
  });
});

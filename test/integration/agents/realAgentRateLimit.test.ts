import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { AgentRateLimitError, type AgentStreamEvent, type RunOptions } from "../../../src/index.ts";
import { AGENT_PATH, offlineAgent } from "../../helpers/agents/agents.ts";
import type { Script, Turn } from "../../helpers/modelServer/script.ts";
import type { ModelServer } from "../../helpers/modelServer/server.ts";
import { leftovers } from "../../helpers/processes/leftovers.ts";
import { describeSideBySide } from "../../helpers/processes/sideBySide.ts";
import { waitFor } from "../../helpers/processes/waiting.ts";
import { git, temporaryRepository } from "../../helpers/repository/repository.ts";
import { describeWith } from "../../helpers/runtimes/runtimes.ts";
import {
  listening,
  PATIENCE,
  publicEnv,
  runReal,
  scriptedModel,
  turnsOf,
  useTemporaryHome,
} from "./realAgents.ts";

useTemporaryHome();
beforeAll(() => void vi.stubEnv("ANTHROPIC_API_KEY", undefined));
afterAll(() => void vi.unstubAllEnvs());

const SECOND = 1000;
const HOUR = 3600 * SECOND;

const inSeconds = (seconds: number): number => Math.ceil(Date.now() / SECOND) + seconds;

/** What the model says to a subscriber who has used up a plan. */
const planUsedUp = (reset: number): Turn => ({
  error: 429,
  body: { type: "error", error: { type: "rate_limit_error", message: "Your plan is used up" } },
  headers: {
    "anthropic-ratelimit-unified-status": "rejected",
    "anthropic-ratelimit-unified-reset": String(reset),
    "anthropic-ratelimit-unified-representative-claim": "five_hour",
    "retry-after": "5400",
  },
});

/** The same, for some seconds from the moment when the model is asked. */
const usedUpFor = (seconds: number): Turn => ({
  ...planUsedUp(0),
  get headers() {
    return planUsedUp(inSeconds(seconds)).headers ?? {};
  },
});

const committing = (name: string): Turn => ({
  text: `Making ${name}.`,
  calls: [{ shell: `echo ${name} > ${name}.txt && git add . && git commit -qm 'Add ${name}'` }],
});
const DONE: Turn = { text: "All done. <promise>COMPLETE</promise>" };

/** A run of Claude Code by a subscriber: only they are told when a limit ends. */
const claudeAtWork = async (script: Script, options: Partial<RunOptions> = {}) => {
  const cwd = temporaryRepository();
  const model = await scriptedModel(script);
  const { ANTHROPIC_API_KEY: _, ...env } = offlineAgent("claude", model.url).env;
  const { events, logging } = listening();
  const running = runReal({
    agent: "claude",
    sandbox: "bubblewrap",
    model,
    cwd,
    options: {
      env: publicEnv({ PATH: AGENT_PATH, ...env, CLAUDE_CODE_OAUTH_TOKEN: "fake" }),
      logging,
      ...options,
    },
  });
  return { cwd, model, events, running };
};

const failureOf = (running: Promise<unknown>): Promise<AgentRateLimitError> =>
  running.then(
    () => expect.unreachable("The run has succeeded"),
    (error) => error,
  );

const troublesIn = (events: readonly AgentStreamEvent[]) =>
  events.flatMap((event) => (event.type === "error" ? [event] : []));

const subjects = (cwd: string): string[] =>
  git(cwd, "log", "--reverse", "--format=%s", "main..agent/work").split("\n");

/** What the runs in a repository have logged so far. */
const logOf = (cwd: string): string => {
  const logs = join(cwd, ".sanddune/logs");
  if (!existsSync(logs)) return "";
  return readdirSync(logs)
    .map((name) => readFileSync(join(logs, name), "utf8"))
    .join("");
};

const requestsTo = (model: ModelServer): number => turnsOf(model).length;

describeSideBySide("a limit of a real agent", () => {
  describeWith(["claude code", "bubblewrap"], "a rate limit of the real Claude Code", () => {
    it("is waited out, and the same session continues in the same iteration", PATIENCE, async () => {
      const { cwd, model, events, running } = await claudeAtWork(
        [committing("before"), usedUpFor(4), committing("after"), DONE],
        { onRateLimit: { waitUpToMs: HOUR } },
      );
      const result = await running;
      expect(result.completionSignal).toBe("<promise>COMPLETE</promise>");
      expect(result.warnings).toEqual([]);
      expect(subjects(cwd)).toEqual(["Add before", "Add after"]);
      expect(result.commits).toHaveLength(2);

      const lastRequest = turnsOf(model).at(-1) ?? "";
      expect(lastRequest).toContain("Greet the world, and commit.");
      expect(lastRequest).toContain("Making before.");
      expect(lastRequest).toContain("Continue where you stopped.");
      const sessions = events.flatMap((event) => (event.type === "sessionId" ? [event.sessionId] : []));
      expect(sessions).toHaveLength(2);
      expect(new Set(sessions)).toEqual(new Set([result.iterations[0]?.sessionId]));
      expect(result.iterations).toHaveLength(1);
      expect(result.usage?.outputTokens).toBe(3 * 34);
      expect(result.usage?.inputTokens).toBe(3 * 1200);

      const [limit, ...others] = troublesIn(events);
      expect(others).toEqual([]);
      expect(limit).toMatchObject({ kind: "rateLimit", willRetry: false, retryAt: expect.any(Date) });
      const next = events[events.indexOf(limit as AgentStreamEvent) + 1];
      const wentOn = events.findLast(({ type }) => type === "sessionId");
      expect(next?.type).not.toBe("sessionId");
      expect(wentOn?.timestamp.getTime()).toBeGreaterThanOrEqual(limit?.retryAt?.getTime() ?? Infinity);
      expect(leftovers(cwd)).toEqual([]);
    });

    it.each<[string, Partial<RunOptions>]>([
      ["by default", {}],
      ["when it ends later than the caller would wait", { onRateLimit: { waitUpToMs: HOUR } }],
    ])("is an error with its end %s, and what was committed is kept", PATIENCE, async (_, options) => {
      const reset = inSeconds(2 * 3600);
      const { cwd, model, events, running } = await claudeAtWork(
        [committing("before"), planUsedUp(reset), DONE],
        options,
      );
      const error = await failureOf(running);
      expect(error).toBeInstanceOf(AgentRateLimitError);
      expect(error.retryAt).toEqual(new Date(reset * SECOND));
      expect(error.message).toContain("You've hit your 5-hour limit");
      expect(error.commits).toHaveLength(1);
      expect(subjects(cwd)).toEqual(["Add before"]);
      expect(requestsTo(model)).toBe(2);
      expect(troublesIn(events)).toMatchObject([
        { kind: "rateLimit", willRetry: false, retryAt: new Date(reset * SECOND) },
      ]);
    });

    it("fails when it comes again and all the waiting would be too long", PATIENCE, async () => {
      const { model, running } = await claudeAtWork([usedUpFor(2), planUsedUp(inSeconds(3600)), DONE], {
        onRateLimit: { waitUpToMs: HOUR / 2 },
      });
      expect(await failureOf(running)).toBeInstanceOf(AgentRateLimitError);
      expect(requestsTo(model)).toBe(2);
    });

    it("is waited for no longer once the caller aborts", PATIENCE, async () => {
      const controller = new AbortController();
      const { cwd, model, running } = await claudeAtWork(
        [committing("before"), planUsedUp(inSeconds(3600))],
        {
          onRateLimit: { waitUpToMs: 2 * HOUR },
          signal: controller.signal,
        },
      );
      const failure = failureOf(running);
      await waitFor(() => logOf(cwd).includes("Waiting for the rate limit to end"), 100_000);
      const reason = { why: "changed my mind" };
      controller.abort(reason);
      expect(await failure).toBe(reason);
      expect(requestsTo(model)).toBe(2);
      expect(subjects(cwd)).toEqual(["Add before"]);
    });
  });

  describeWith(["codex", "bubblewrap"], "the usage limit of the real Codex", () => {
    /** A run that is told when the limit ends, and what it has failed with. */
    const limitedUntil = async (reset: number, options: Partial<RunOptions> = {}) => {
      const { events, logging } = listening();
      const error = { type: "usage_limit_reached", message: "x", plan_type: "plus", resets_at: reset };
      const model = await scriptedModel([{ error: 429, body: { error } }]);
      const running = runReal({
        agent: "codex",
        sandbox: "bubblewrap",
        model,
        cwd: temporaryRepository(),
        options: { logging, ...options },
      });
      return { error: await failureOf(running), events, model };
    };

    /** Codex tells the minute and no more: a run that goes on in it may be too early. */
    const expectTime = (retryAt: Date | undefined, reset: number) => {
      const late = (retryAt?.getTime() ?? NaN) - reset * SECOND;
      expect(late).toBeGreaterThanOrEqual(0);
      expect(late).toBeLessThanOrEqual(60 * SECOND);
    };

    it.each([
      ["some hours", 3 * 3600],
      ["some days", 3 * 86_400],
      ["some seconds", 5],
    ])(
      "that ends in %s is an error with its end, and never earlier than that",
      PATIENCE,
      async (_, seconds) => {
        const reset = inSeconds(seconds);
        const { error, events, model } = await limitedUntil(reset);
        expect(error).toBeInstanceOf(AgentRateLimitError);
        expect(error.message).toContain("You’ve hit your usage limit.");
        expect(requestsTo(model)).toBe(1);
        expect(troublesIn(events)).toMatchObject([
          { kind: "rateLimit", willRetry: false, retryAt: error.retryAt },
        ]);
        expectTime(error.retryAt, reset);
      },
    );
  });
});

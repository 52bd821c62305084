import { expect, it } from "vitest";
import { AgentContextLengthError, type RunOptions } from "../../../src/index.ts";
import type { Script } from "../../helpers/modelServer/script.ts";
import { leftovers } from "../../helpers/processes/leftovers.ts";
import { describeSideBySide } from "../../helpers/processes/sideBySide.ts";
import { waitFor } from "../../helpers/processes/waiting.ts";
import { temporaryRepository } from "../../helpers/repository/repository.ts";
import { describeWith } from "../../helpers/runtimes/runtimes.ts";
import { failureOf } from "../../security/support.ts";
import {
  AGENT_NAMES,
  AGENTS,
  type AgentName,
  COMMITTING,
  listening,
  PATIENCE,
  PROVIDERS,
  runReal,
  scriptedModel,
  turnsOf,
} from "./realAgents.ts";

const SIGNAL = "<promise>COMPLETE</promise>";

const answer = async (agent: AgentName, script: Script, options: Partial<RunOptions>) => {
  const cwd = temporaryRepository();
  const model = await scriptedModel(script);
  // Sessions have tests of their own.
  const provider = (name: string) => ({ ...PROVIDERS[agent](name), captureSessions: false });
  const result = await runReal({ agent, sandbox: "bubblewrap", model, cwd, options, provider });
  expect(leftovers(cwd)).toEqual([]);
  return { result, model };
};

/** As much as codex takes, in characters. */
const MEBI = 1024 * 1024;
const BEGINNING = `Say ${SIGNAL} when you are done \u2028 🏜️.\n`;
const END = ' The end of "it" \\ 🏜.';
/** No part of it is like another. */
const LINES = Array.from({ length: 65_536 }, (_, index) => `line ${String(index).padStart(10, "0")}\n`);
const LONG = (BEGINNING + LINES.join("")).slice(0, MEBI - END.length) + END;

/** In what a model streams, Gemini CLI takes the separators of lines for the end. */
const SAID = "One\u2028two\u2029three\u0085four 🏜️ 👩‍👩‍👧 ä \u{10ffff} end.";

const inJson = (text: string): string => JSON.stringify(text).slice(1, -1);

const OVERFLOW = {
  error: 400,
  body: {
    error: {
      code: "context_length_exceeded",
      message: "This model's maximum context length is 200000 tokens, but you sent 210000.",
    },
  },
};
/** The agent is silent for longer than it may be once its turn is over. */
const THINKING = { delayMs: 9000 };
const options = { completionTimeoutMs: 6_000 };

describeSideBySide("the end of a turn", () => {
  describeWith(["claude code", "bubblewrap"], "the real claude with a task in the background", () => {
    const task = (command: string) => ({
      calls: [{ name: "Bash", input: { command, run_in_background: true, description: "build" } }],
    });

    it("does not hold the run up with a task that it has left in the background", PATIENCE, async () => {
      const { result } = await answer("claude", [task("sleep 600"), { text: `Started. ${SIGNAL}` }], options);
      expect(result.completionSignal).toBe(SIGNAL);
      expect(result.stdout).toContain("Started.");
      expect(result.usage?.outputTokens).toBe(2 * 34);
    });

    it(
      "is not cut off while it thinks about what to do next, after the end of the task",
      PATIENCE,
      async () => {
        const { result } = await answer(
          "claude",
          [
            task("sleep 1; echo built"),
            { text: "It runs in the background. I go on when it is done." },
            { ...COMMITTING[0], ...THINKING },
            COMMITTING[1],
          ],
          options,
        );
        expect(result.commits).toHaveLength(1);
        expect(result.completionSignal).toBe(SIGNAL);
      },
    );
  });

  describeWith(["opencode", "bubblewrap"], "the real opencode whose context is full", () => {
    it(
      "is not cut off while it makes room and goes on, and what it sums up is not its answer",
      PATIENCE,
      async () => {
        const { result } = await answer(
          "opencode",
          [
            { text: "Looking.", calls: [{ shell: "true" }] },
            OVERFLOW,
            { ...COMMITTING[0], ...THINKING },
            { text: "Greeted." },
          ],
          options,
        );
        expect(result.commits).toHaveLength(1);
        // The model has been asked for a summary beside that, and has given one.
        expect(result.stdout).toBe("Looking.\nOn it.\nGreeted.\n");
      },
    );
  });
});

describeSideBySide("a prompt", () => {
  for (const agent of AGENT_NAMES) {
    describeWith([AGENTS[agent].runtime, "bubblewrap"], `the real ${agent}`, () => {
      it(
        "gets a prompt of a mebibyte, whole; says what it says, whatever characters are in it; a signal in the prompt is not its own",
        PATIENCE,
        async () => {
          expect(Buffer.byteLength(LONG)).toBeGreaterThanOrEqual(MEBI);
          const said = agent === "gemini" ? SAID.replace(/[\u2028\u2029]/g, " ") : SAID;
          const { events, logging } = listening();
          // Gemini CLI repeats the prompt, and ends without waiting until that has been read.
          const after = () => waitFor(() => events.some(({ type }) => type === "toolResult"), 100_000);
          const script = [{ calls: [{ shell: `echo '${SIGNAL}'` }] }, { text: said, after }];
          const { result, model } = await answer(agent, script, { prompt: LONG, logging });
          const requests = turnsOf(model);
          expect(requests).toHaveLength(2);
          expect(requests[0]?.includes(inJson(LONG))).toBe(true);
          expect(result.stdout).toBe(`${said}\n`);
          expect(result.completionSignal).toBeUndefined();
        },
      );
    });
  }

  describeWith(["codex", "bubblewrap"], "the real codex, which takes no more than a mebibyte,", () => {
    it("fails with its own words when the prompt is longer", PATIENCE, async () => {
      const answered = answer("codex", [{ text: "Read." }], { prompt: LONG + END });
      const error = await failureOf(answered.then(({ result }) => result));
      expect(error).toBeInstanceOf(AgentContextLengthError);
      expect((error as AgentContextLengthError).problem).toContain("Input exceeds the maximum length");
    });
  });

  describeWith(["claude code", "bubblewrap"], "the real claude", () => {
    it.each(["/clear", "/compact the conversation"])(
      "gets a prompt that looks like a command of its own as text: %s",
      PATIENCE,
      async (prompt) => {
        const { result, model } = await answer("claude", [{ text: `Read. ${SIGNAL}` }], { prompt });
        expect(result.completionSignal).toBe(SIGNAL);
        expect(turnsOf(model)).toHaveLength(1);
        expect(turnsOf(model)[0]).toContain(prompt);
      },
    );
  });
});

import { expect, it } from "vitest";
import { AgentContextLengthError, type RunOptions } from "../../src/index.ts";
import { leftovers } from "../helpers/leftovers.ts";
import type { Script } from "../helpers/modelServer/script.ts";
import { temporaryRepository } from "../helpers/repository.ts";
import { describeWith } from "../helpers/runtimes.ts";
import { failureOf } from "../security/support.ts";
import {
  AGENTS,
  type AgentName,
  PROVIDERS,
  runReal,
  scriptedModel,
  temporaryHome,
  turnsOf,
} from "./realAgents.ts";

const SIGNAL = "<promise>COMPLETE</promise>";
/** opencode takes a while to start, and more so on a busy machine. */
const SLOW = { timeout: 300_000 };

const answer = async (agent: AgentName, script: Script, options: Partial<RunOptions>) => {
  temporaryHome();
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
const END = ' The end of "it" \\ 🏜.';
/** No part of it is like another. */
const LINES = Array.from({ length: 65_536 }, (_, index) => `line ${String(index).padStart(10, "0")}\n`);
const LONG = LINES.join("").slice(0, MEBI - END.length) + END;

for (const agent of Object.keys(AGENTS) as AgentName[]) {
  describeWith([AGENTS[agent].runtime, "bubblewrap"], `the real ${agent}`, () => {
    it("gets a prompt of a mebibyte, whole", SLOW, async () => {
      expect(Buffer.byteLength(LONG)).toBeGreaterThanOrEqual(MEBI);
      const { model } = await answer(agent, [{ text: "Read." }], { prompt: LONG });
      const requests = turnsOf(model);
      expect(requests).toHaveLength(1);
      expect(requests[0]?.includes(JSON.stringify(LONG).slice(1, -1))).toBe(true);
    });

    it(
      "says what it says, whatever characters are in it; a signal in the prompt is not its own",
      SLOW,
      async () => {
        const said = "One\u2028two\u2029three\u0085four 🏜️ 👩‍👩‍👧 ä \u{10ffff} end.";
        const prompt = `Say ${SIGNAL} when you are done \u2028 🏜️.`;
        const script = [{ calls: [{ shell: `echo '${SIGNAL}'` }] }, { text: said }];
        const { result, model } = await answer(agent, script, { prompt });
        expect(result.stdout).toBe(`${said}\n`);
        expect(result.completionSignal).toBeUndefined();
        expect(turnsOf(model)[0]).toContain(JSON.stringify(prompt).slice(1, -1));
      },
    );
  });
}

describeWith(["codex", "bubblewrap"], "the real codex, which takes no more than a mebibyte,", () => {
  it("fails with its own words when the prompt is longer", async () => {
    const error = await failureOf(
      answer("codex", [{ text: "Read." }], { prompt: LONG + END }).then(({ result }) => result),
    );
    expect(error).toBeInstanceOf(AgentContextLengthError);
    expect((error as AgentContextLengthError).problem).toContain("Input exceeds the maximum length");
  });
});

describeWith(["claude code", "bubblewrap"], "the real claude", () => {
  it.each(["/clear", "/clear and go on", "/init", "/compact the conversation"])(
    "gets a prompt that looks like a command of its own as text: %s",
    async (prompt) => {
      const { result, model } = await answer("claude", [{ text: `Read. ${SIGNAL}` }], { prompt });
      expect(result.completionSignal).toBe(SIGNAL);
      expect(turnsOf(model)).toHaveLength(1);
      expect(turnsOf(model)[0]).toContain(prompt);
    },
  );

  it("does not hold the run up with a task that it has left in the background", async () => {
    const task = { command: "sleep 600", description: "wait", run_in_background: true };
    const { result } = await answer(
      "claude",
      [{ calls: [{ name: "Bash", input: task }] }, { text: `Started. ${SIGNAL}` }],
      { completionTimeoutSeconds: 2 },
    );
    expect(result.completionSignal).toBe(SIGNAL);
    expect(result.stdout).toContain("Started.");
    expect(result.usage?.outputTokens).toBe(2 * 34);
  });
});

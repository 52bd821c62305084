import { expect, it } from "vitest";
import { temporaryRepository } from "../helpers/repository.ts";
import { describeWith } from "../helpers/runtimes.ts";
import { COMMITTING, runReal, scriptedModel, temporaryHome } from "./realAgents.ts";

const SIGNAL = "<promise>COMPLETE</promise>";
const OVERFLOW = {
  error: 400,
  body: {
    error: {
      code: "context_length_exceeded",
      message: "This model's maximum context length is 200000 tokens, but you sent 210000.",
    },
  },
};

describeWith(
  ["claude code", "bubblewrap"],
  "the real claude whose background task ends after its turn",
  () => {
    it("is not cut off while it thinks about what to do next", async () => {
      temporaryHome();
      const cwd = temporaryRepository();
      const task = { command: "sleep 1; echo built", run_in_background: true, description: "build" };
      const model = await scriptedModel([
        { calls: [{ name: "Bash", input: task }] },
        { text: "It runs in the background. I go on when it is done." },
        { ...COMMITTING[0], delayMs: 6000 },
        COMMITTING[1],
      ]);
      const options = { completionTimeoutSeconds: 3 };
      const result = await runReal({ agent: "claude", sandbox: "bubblewrap", model, cwd, options });
      expect(result.commits).toHaveLength(1);
      expect(result.completionSignal).toBe(SIGNAL);
    });
  },
);

describeWith(["opencode", "bubblewrap"], "the real opencode whose context is full", () => {
  it("is not cut off while it makes room and goes on, and what it sums up is not its answer", async () => {
    temporaryHome();
    const cwd = temporaryRepository();
    const model = await scriptedModel([
      { text: "Looking.", calls: [{ shell: "true" }] },
      OVERFLOW,
      { ...COMMITTING[0], delayMs: 6000 },
      { text: "Greeted." },
    ]);
    const options = { completionTimeoutSeconds: 3 };
    const result = await runReal({ agent: "opencode", sandbox: "bubblewrap", model, cwd, options });
    expect(result.commits).toHaveLength(1);
    // The model has been asked for a summary beside that, and has given one.
    expect(result.stdout).toBe("Looking.\nOn it.\nGreeted.\n");
  }, 300_000);
});

import { describe, expect, it } from "vitest";
import { describeWith } from "../../helpers/runtimes/runtimes.ts";
import { commit, expectSaneTerminal, NEEDS, SANDBOXES, startSession, TUI, uniqueMark } from "./scenes.ts";

describe.each(SANDBOXES)("the terminal of an agent with %s", (sandbox) => {
  describeWith(NEEDS[sandbox], "is a real one", () => {
    it("Ctrl-C is a signal to the agent that leaves it to the terminal; it is sane after the agent was killed, whose commits are there", async () => {
      const scene = await startSession(
        sandbox,
        { agent: `${TUI} cooked` },
        { shell: 'TERM=unknown-terminal "$@"' },
      );
      const name = sandbox === "no-sandbox" ? "unknown-terminal" : "xterm-256color";
      await scene.terminal.shows(`TERM=${name}\n`);
      await scene.terminal.shows("prompt <>");
      scene.terminal.press("C-c");
      await scene.terminal.shows("interrupted by a signal");
      await commit(scene, "Before the crash");
      scene.terminal.type("x");
      const { outcomes, interrupts, listens } = await scene.report();
      expect(outcomes[0]?.value).toMatchObject({ exitCode: 137, commits: [expect.anything()] });
      expect({ interrupts, listens }).toEqual({ interrupts: 0, listens: true });
      await expectSaneTerminal(scene);
    });
  });
});

describe.each([
  ["an exception that nobody caught", "throw", 1, "no-sandbox"],
  ["process.exit()", "exit", 7, "test-isolated"],
  ["process.exit()", "exit", 7, "bubblewrap"],
  ["process.exit()", "exit", 7, "docker"],
] as const)("the terminal of a program that is ended by %s", (_, onSignal, exitCode, sandbox) => {
  describeWith(NEEDS[sandbox], `during a session with ${sandbox}`, () => {
    it("is sane afterwards", async () => {
      const mark = uniqueMark();
      const scene = await startSession(sandbox, { env: { GREETING: mark } }, { onSignal });
      scene.signal();
      try {
        expect(await scene.terminal.ended()).toBe(exitCode);
        await expectSaneTerminal(scene);
      } finally {
        scene.endOrphans(mark);
      }
    });
  });
});

import { describe, expect, it } from "vitest";
import { describeWith } from "../helpers/runtimes.ts";
import {
  commit,
  expectSaneTerminal,
  NEEDS,
  type Outcome,
  SANDBOXES,
  type Scene,
  startSession,
  TUI,
  uniqueMark,
} from "./interactiveScenes.ts";

const leave = async (scene: Scene, key = "q"): Promise<Outcome> => {
  scene.terminal.type(key);
  return scene.outcome();
};

describe.each(SANDBOXES)("the terminal of an agent with %s", (sandbox) => {
  describeWith(NEEDS[sandbox], "is a real one", () => {
    it("text that is typed arrives, key by key", async () => {
      const scene = await startSession(sandbox);
      await scene.typing("h", /^key h$/m);
      await scene.typing("?", /^key \?$/m);
      await scene.typing("7", /^key 7$/m);
      expect((await leave(scene)).value?.["exitCode"]).toBe(0);
    });

    it("keys that terminals act on arrive as keys in raw mode", async () => {
      const scene = await startSession(sandbox);
      const keys = { "C-p": "0x10", "C-q": "0x11", "C-s": "0x13", "C-z": "0x1a", "C-d": "0x04" };
      for (const [key, shown] of Object.entries({ ...keys, "C-\\": "0x1c", Tab: "0x09", Escape: "0x1b" })) {
        scene.terminal.press(key);
        await scene.terminal.shows(new RegExp(`^key ${shown}$`, "m"));
      }
      expect((await leave(scene)).value?.["exitCode"]).toBe(0);
    });

    it.each([
      ["as a key, in raw mode", TUI, "interrupted by a key"],
      [
        "as a signal, where the agent leaves that to the terminal",
        `${TUI} cooked`,
        "interrupted by a signal",
      ],
    ])("Ctrl-C reaches the agent %s, and nobody else", async (_, agent, answer) => {
      const scene = await startSession(sandbox, { agent });
      scene.terminal.press("C-c");
      await scene.terminal.shows(answer);
      await scene.typing("k", /^key k$/m);
      scene.terminal.type("q");
      const { outcomes, interrupts, listens } = await scene.report();
      expect(outcomes[0]?.value?.["exitCode"]).toBe(0);
      expect({ interrupts, listens }).toEqual({ interrupts: 0, listens: true });
    });

    it("it has the size of the terminal from the beginning, and follows it", async () => {
      const scene = await startSession(sandbox, {}, { columns: 93, rows: 31 });
      await scene.terminal.shows(/^ready 31 93 /m);
      for (const [columns, rows] of [
        [120, 37],
        [61, 23],
        [200, 40],
      ] as const) {
        scene.terminal.resize(columns, rows);
        await scene.terminal.shows(new RegExp(`^size ${rows} ${columns}$`, "m"));
      }
      expect((await leave(scene)).value?.["exitCode"]).toBe(0);
    });

    it.each([
      ["quotes", `it's a "quoted" prompt with a $HOME and a \`date\` and a \\`],
      ["several lines", "one\ntwo\n\nthree"],
      ["other scripts", "grüße, 世界 🎉"],
      ["a dash at its beginning", "--help me"],
    ])("a prompt with %s arrives as it is", async (_, prompt) => {
      const scene = await startSession(sandbox, { prompt });
      await scene.terminal.shows(`prompt <${prompt.replaceAll("\n", "\\n")}>`);
      await leave(scene);
    });

    it("without a prompt the agent gets no argument", async () => {
      const scene = await startSession(sandbox);
      await scene.terminal.shows("prompt <>");
      await leave(scene);
    });

    it("env vars arrive, and the name of the terminal", async () => {
      const greeting = "hello 'there' $HOME";
      const scene = await startSession(sandbox, { env: { GREETING: greeting } });
      await scene.terminal.shows(`greeting ${greeting}`);
      await scene.terminal.shows(/ TERM=(tmux|xterm)-256color$/m);
      await scene.saying("test -t 0 && echo a terminal", "said <a terminal>");
      await leave(scene);
    });

    it("it is sane after the agent has ended well", async () => {
      const scene = await startSession(sandbox);
      await leave(scene);
      await expectSaneTerminal(scene);
    });

    it("it is sane after the agent was killed, and what it had committed is there", async () => {
      const scene = await startSession(sandbox);
      await commit(scene, "Before the crash");
      const { value } = await leave(scene, "x");
      expect(value?.["exitCode"]).toBe(137);
      expect(value?.["commits"]).toHaveLength(1);
      await expectSaneTerminal(scene);
    });

    it("it is sane after an abort", async () => {
      const scene = await startSession(sandbox);
      scene.signal();
      expect((await scene.outcome()).error?.isReason).toBe(true);
      await expectSaneTerminal(scene);
    });

    it.each([
      ["an exception that nobody caught", "throw", 1],
      ["process.exit()", "exit", 7],
    ] as const)("it is sane after the program was ended by %s", async (_, onSignal, exitCode) => {
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

describeWith(NEEDS.docker, "a terminal that the sandbox does not know", () => {
  it("is taken for an ordinary one", async () => {
    const scene = await startSession("docker", {}, { shell: 'TERM=unknown-terminal "$@"' });
    await scene.terminal.shows(/ TERM=xterm-256color$/m);
    await leave(scene);
  });
});

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { runInNewContext } from "node:vm";
import { describe, expect, it, vi } from "vitest";
import { type AgentEvent, type AgentProvider, type AgentStreamEvent, command } from "../../../src/index.ts";
import { temporaryDirectory } from "../../helpers/repository/repository.ts";
import { EVERY_KIND, hearing, logOf, recite, reciting, runHere, USAGE } from "../agents/reciting.ts";

describe("onAgentStreamEvent", () => {
  it("gets every event of every kind, with its iteration and time, in order", async () => {
    const heard: AgentStreamEvent[] = [];
    const begin = Date.now();
    await runHere({
      agent: reciting,
      prompt: recite(...EVERY_KIND),
      maxIterations: 2,
      ...hearing((event) => heard.push(event)),
    });
    for (const number of [1, 2]) {
      const own = heard.filter(({ iteration }) => iteration === number);
      const [raw, known] = [
        own.filter(({ type }) => type === "raw"),
        own.filter(({ type }) => type !== "raw"),
      ];
      expect(known).toEqual(EVERY_KIND.map((event) => expect.objectContaining(event)));
      expect(raw).toEqual([expect.objectContaining({ line: "to stderr", stream: "stderr" })]);
    }
    const times = heard.map(({ timestamp }) => timestamp.getTime());
    expect(times.every((time) => time >= begin && time <= Date.now())).toBe(true);
    expect(times).toEqual(times.toSorted((a, b) => a - b));
  });

  it("is called while the agent works, not afterwards", async () => {
    const heard = join(temporaryDirectory(), "heard");
    const agent = command(`echo hello; until [ -e ${heard} ]; do sleep 0.02; done; echo bye`);
    const result = await runHere({
      agent,
      idleTimeoutSeconds: 20,
      ...hearing(() => writeFileSync(heard, "")),
    });
    expect(result.stdout).toBe("hello\nbye\n");
  });

  it("ends no run and changes nothing in it, whether it throws, rejects, or returns or does something odd", async () => {
    const boom = () => {
      throw new Error("a broken forwarder");
    };
    const reactions: ((event: AgentStreamEvent) => unknown)[] = [
      boom,
      () => {
        throw undefined;
      },
      async () => boom(),
      // A promise of another realm.
      runInNewContext("async () => { throw new Error('elsewhere') }"),
      // biome-ignore lint/suspicious/noThenProperty: that is what it is about
      () => ({ then: boom }),
      (event) => Object.assign(event, { text: "lies\n", type: "text" }),
    ];
    const unhandled = vi.fn();
    const others = process.listeners("unhandledRejection");
    process.removeAllListeners("unhandledRejection").on("unhandledRejection", unhandled);
    let calls = 0;
    const result = await runHere({
      agent: command(reactions.map((_, index) => `echo line ${index}`).join("; ")),
      ...hearing((event) => reactions[calls++]?.(event)),
    }).finally(() => {
      process.removeAllListeners("unhandledRejection");
      for (const listener of others) process.on("unhandledRejection", listener);
    });
    const expected = reactions.map((_, index) => `line ${index}\n`).join("");
    expect(result.stdout).toBe(expected);
    expect(calls).toBe(reactions.length);
    expect(logOf(result)).toContain(expected);
    expect(unhandled).not.toHaveBeenCalled();
  });

  it.each(["file", "stdout"] as const)("a tool call that JSON cannot say ends no run (%s)", async (type) => {
    const printed = vi.spyOn(process.stdout, "write").mockReturnValue(true);
    const heard: unknown[] = [];
    const odd: AgentProvider = {
      ...reciting,
      createParser: () => () => [{ type: "toolCall", name: "Odd", input: { count: 1n } }],
    };
    const logging = { type, onAgentStreamEvent: (event: AgentStreamEvent) => heard.push(event.type) };
    const problem = await runHere({ agent: odd, prompt: "x\n", logging }).then(
      () => undefined,
      (reason) => reason,
    );
    printed.mockRestore();
    expect(problem).toBeUndefined();
    expect(heard).toEqual(["toolCall", "toolCall"]);
  });
});

describe("the completion signal", () => {
  const SIGNAL = "<promise>COMPLETE</promise>";
  const twice = (...events: AgentEvent[]) =>
    runHere({ agent: reciting, prompt: `${recite(...events)}${SIGNAL}\n`, maxIterations: 2 });

  it("is not believed in a tool call, in a tool result, in the agent's report or in an echoed prompt", async () => {
    const result = await twice(
      { type: "toolCall", name: "Bash", input: { command: `echo ${SIGNAL}` } },
      { type: "toolResult", output: SIGNAL },
      { type: "result", isError: false, message: SIGNAL },
    );
    expect(result.completionSignal).toBeUndefined();
    expect(result.iterations).toHaveLength(2);
  });

  it("is found in the agent's words, also when it comes in pieces, with other things in between", async () => {
    const result = await twice(
      { type: "text", text: SIGNAL.slice(0, 9) },
      { type: "usage", usage: USAGE },
      { type: "text", text: SIGNAL.slice(9) },
    );
    expect(result.completionSignal).toBe(SIGNAL);
    expect(result.iterations).toHaveLength(1);
  });
});

import { describe, expect, it } from "vitest";
import type { AgentEvent, AgentStreamEvent } from "../../src/agents/contract.ts";
import { EventRedactor } from "../../src/redaction/redactEvents.ts";
import { Redactor } from "../../src/redaction/redactor.ts";
import { cutText, seededRandom } from "../helpers/seededRandom.ts";

const SECRET = "s3cr3t-s3cr3t-x";
const redactor = new Redactor(new Map([["KEY", SECRET]]));

const stamp = (event: AgentEvent): AgentStreamEvent => ({ iteration: 1, timestamp: new Date(0), ...event });
const text = (content: string): AgentEvent => ({ type: "text", text: content });

const play = (events: readonly AgentEvent[], using = redactor): AgentStreamEvent[] => {
  const seen: AgentStreamEvent[] = [];
  const stream = new EventRedactor(using, (event) => seen.push(event));
  for (const event of events) stream.push(stamp(event));
  stream.flush();
  return seen;
};

const textOf = (events: readonly AgentStreamEvent[]): string =>
  events.map((event) => (event.type === "text" ? event.text : "")).join("");

/** Every way of cutting a text in two or three. */
const cuts = (whole: string): string[][] => {
  const places = Array.from({ length: whole.length + 1 }, (_, place) => place);
  return places.flatMap((first) =>
    places
      .filter((second) => second >= first)
      .map((second) => [whole.slice(0, first), whole.slice(first, second), whole.slice(second)]),
  );
};

const FORMS = {
  plain: SECRET,
  JSON: JSON.stringify({ key: SECRET }),
  Base64: Buffer.from(SECRET).toString("base64"),
  "Base64 of a longer text": Buffer.from(`u:${SECRET}:p`).toString("base64"),
};

describe("a secret is found however it is spread over text events", () => {
  it.each(Object.entries(FORMS))("in two or three pieces: %s", (_, form) => {
    const whole = `a ${form} z`;
    const expected = redactor.text(whole);
    expect(expected).toContain("[redacted KEY]");
    const wrong = cuts(whole).filter((pieces) => textOf(play(pieces.map(text))) !== expected);
    expect(wrong).toEqual([]);
  });

  it.each([1, 2, 3, 4, 5])("between lines without secrets, in pieces of random lengths (seed %i)", (seed) => {
    const random = seededRandom(seed);
    const words = [...Object.values(FORMS), "harmless", "s3cr3t-", "\n", "\n", SECRET.slice(0, 9)];
    const whole = Array.from({ length: 500 }, () => words[random(words.length)]).join(" ");
    const pieces = cutText(whole, random, 1 + random(40));
    expect(textOf(play(pieces.map(text)))).toBe(redactor.text(whole));
  });

  it.each(Object.entries(FORMS))("character by character: %s", (_, form) => {
    const whole = `${form} ${form}${form}`;
    expect(textOf(play([...whole].map(text)))).toBe(redactor.text(whole));
  });

  it("after what only looked like its beginning", () => {
    const whole = `s3cr3t-${SECRET} s3cr3ts3${SECRET}`;
    expect(textOf(play([...whole].map(text)))).toBe("s3cr3t-[redacted KEY] s3cr3ts3[redacted KEY]");
  });

  it("although a shorter secret is its beginning", () => {
    const both = new Redactor(
      new Map([
        ["SHORT", "accounts"],
        ["LONG", "accounts-and-password"],
      ]),
    );
    const whole = "x accounts-and-password y accounts z";
    const wrong = cuts(whole).filter((pieces) => textOf(play(pieces.map(text), both)).includes("password"));
    expect(wrong).toEqual([]);
  });

  it.each<[string, AgentEvent]>([
    ["a line on stderr", { type: "raw", line: "noise", stream: "stderr" }],
    [
      "a usage report",
      {
        type: "usage",
        usage: { inputTokens: 1, outputTokens: 1, cacheCreationInputTokens: 0, cacheReadInputTokens: 0 },
      },
    ],
    ["an empty text", text("")],
  ])("although %s comes between its pieces", (_, between) => {
    const wrong = cuts(SECRET).filter(([one = "", two = "", three = ""]) =>
      textOf(play([text(one), between, text(two), between, text(three)])).includes(SECRET),
    );
    expect(wrong).toEqual([]);
  });
});

describe("what is no secret arrives", () => {
  it("complete, wherever it is cut", () => {
    const whole = `s3cr3t-s3cr3t-y s3cr3t-s3c ${SECRET.slice(0, -1)}`;
    const wrong = cuts(whole).filter((pieces) => textOf(play(pieces.map(text))) !== whole);
    expect(wrong).toEqual([]);
  });

  it("at once, if it cannot be the beginning of a secret", () => {
    const seen: AgentStreamEvent[] = [];
    new EventRedactor(redactor, (event) => seen.push(event)).push(stamp(text("Hello.")));
    expect(textOf(seen)).toBe("Hello.");
  });

  it("as the very same events, when there are no secrets", () => {
    const events = [text("a"), text("b")].map(stamp);
    const seen: AgentStreamEvent[] = [];
    const stream = new EventRedactor(new Redactor(new Map()), (event) => seen.push(event));
    for (const event of events) stream.push(event);
    expect(seen.every((event, index) => event === events[index])).toBe(true);
  });
});

describe("the order of events is kept", () => {
  const call: AgentEvent = { type: "toolCall", name: "shell", input: { command: "ls" }, id: "1" };
  const result: AgentEvent = { type: "toolResult", output: "a.txt", id: "1" };

  it("text that is held back comes before what follows it", () => {
    const seen = play([text("see s3cr3"), call, result, text("done s3"), { type: "result", isError: false }]);
    expect(seen.map(({ type }) => type)).toEqual([
      "text",
      "text",
      "toolCall",
      "toolResult",
      "text",
      "text",
      "result",
    ]);
    expect(textOf(seen)).toBe("see s3cr3done s3");
  });

  it("iteration and timestamp stay with the text", () => {
    const timestamp = new Date(5);
    const seen: AgentStreamEvent[] = [];
    const stream = new EventRedactor(redactor, (event) => seen.push(event));
    stream.push({ type: "text", text: "s3cr", iteration: 3, timestamp });
    stream.flush();
    expect(seen).toEqual([{ type: "text", text: "s3cr", iteration: 3, timestamp }]);
  });
});

describe("every other event is redacted in all its fields", () => {
  it.each<[string, AgentEvent]>([
    ["a tool call's input", { type: "toolCall", name: "shell", input: { command: [`curl -u ${SECRET}`] } }],
    ["a tool call's keys", { type: "toolCall", name: "shell", input: { [SECRET]: 1 } }],
    ["a tool call's name and id", { type: "toolCall", name: SECRET, input: SECRET, id: SECRET }],
    ["a tool result", { type: "toolResult", output: `x=${SECRET}`, id: SECRET }],
    ["a session id", { type: "sessionId", sessionId: SECRET }],
    ["a result", { type: "result", isError: true, message: `401 for ${SECRET}` }],
    ["a raw line", { type: "raw", line: `{"key":"${SECRET}"}`, stream: "stdout" }],
  ])("%s", (_, event) => {
    const [seen] = play([event]);
    expect(JSON.stringify(seen)).toContain("[redacted KEY]");
    expect(JSON.stringify(seen)).not.toContain(SECRET);
    expect(seen?.type).toBe(event.type);
  });

  it.each(["toolResult", "toolCall", "timestamp", "iteration"])(
    "a value like %s does not change what an event is",
    (value) => {
      const events: AgentEvent[] = [
        { type: "toolResult", output: "a", isError: false },
        { type: "raw", line: "b", stream: "stderr" },
        { type: "result", isError: false, message: "c" },
      ];
      expect(play(events, new Redactor(new Map([["MODE", value]])))).toEqual(events.map(stamp));
    },
  );
});

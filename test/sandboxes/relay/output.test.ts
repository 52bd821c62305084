import { expect, test } from "vitest";
import { RelayOutput } from "../../../src/sandboxes/relay/output.ts";

const record = (index: number, text: string): string => {
  const data = text === "." ? text : Buffer.from(text).toString("base64");
  return `${index} ${data.length} ${data}\n`;
};

const listen = () => {
  const heard: string[] = [];
  const taken: string[] = [];
  let gaps = 0;
  const output = new RelayOutput(
    {
      onStdoutChunk: (chunk) => heard.push(chunk.toString()),
      onStderrChunk: (chunk) => heard.push(`err ${chunk.toString()}`),
    },
    {
      onGap: () => {
        gaps++;
      },
      onTaken: (stream, count) => taken.push(`${stream} ${count}`),
    },
  );
  return { output, heard, taken, gapCount: () => gaps };
};

test("records come in their order and once, over however many connections, in pieces of any size", async () => {
  const { output, heard, gapCount } = listen();
  const first = output.openReader();
  for (const character of `@ /tmp/inbox\n${record(0, "a")}${record(1, "b").slice(0, 4)}`)
    first.stdout(character);
  const second = output.openReader();
  second.stdout(`${record(0, "a")}${record(1, "b")}${record(2, "c")}${record(3, ".")}`);
  second.stderr(`${record(0, "oops")}${record(1, ".")}`);
  second.stdout("\n= 7\n");
  expect(heard).toEqual(["a", "b", "c", "err oops"]);
  expect(await output.inbox).toBe("/tmp/inbox");
  expect(await output.ended).toBe(7);
  await output.completed;
  expect(gapCount()).toBe(0);
});

test("what is missing is taken from the inbox, also what was never heard of", async () => {
  const { output, heard, gapCount } = listen();
  output.openReader().stdout(record(2, "c"));
  expect(heard).toEqual([]);
  expect(gapCount()).toBe(1);
  const kept: Record<string, string> = {
    "out.0": record(0, "a"),
    "out.1": record(1, "b"),
    "out.3": record(3, "d"),
    "err.0": record(0, "."),
    code: "0\n",
  };
  await output.catchUp(async (name) => kept[name]);
  expect(heard).toEqual(["a", "b", "c", "d"]);
  expect(await output.ended).toBe(0);
});

test("the inbox is read again for a request that comes during a read", async () => {
  const { output, heard } = listen();
  const kept: Record<string, string> = {};
  let again: Promise<void> | undefined;
  const read = async (name: string) => {
    if (name === "code" && again === undefined) {
      kept["out.0"] = record(0, "a");
      again = output.catchUp(read);
    }
    return kept[name];
  };
  await output.catchUp(read);
  await again;
  expect(heard).toEqual(["a"]);
});

test("a lost record is an error, not a shorter output", async () => {
  const { output, heard } = listen();
  output.openReader().stdout(`${record(0, "a")}${record(2, "c")}`);
  await expect(output.catchUp(async () => undefined)).rejects.toThrow(
    /some of the command's output was lost/,
  );
  expect(heard).toEqual(["a"]);
});

test("a record that was cut short, or written into, counts for nothing", async () => {
  const { output, heard } = listen();
  const whole = record(0, "a long piece of output");
  const reader = output.openReader();
  reader.stdout(`${whole.slice(0, 16)}\n= 0\n${whole.slice(16)}`);
  expect(heard).toEqual([]);
  expect(await output.ended).toBe(0);
  await output.catchUp(async (name) => (name === "out.0" ? whole : undefined));
  expect(heard).toEqual(["a long piece of output"]);
});

test("says how many records were taken, of each stream and in steps, and not what has only arrived", async () => {
  const { output, taken } = listen();
  const reader = output.openReader();
  for (let index = 1; index < 400; index++) reader.stdout(record(index, "x"));
  for (let index = 0; index < 130; index++) reader.stderr(record(index, "x"));
  expect(taken).toEqual(["err 128"]);
  reader.stdout(record(0, "x"));
  expect(taken).toEqual(["err 128", "out 128", "out 256", "out 384"]);
});

test("a file of the inbox that is not complete is not there yet", async () => {
  const { output, heard } = listen();
  await output.catchUp(async (name) => (name === "out.0" ? record(0, "text").slice(0, 6) : undefined));
  expect(heard).toEqual([]);
  output.openReader().stdout(record(0, "text"));
  expect(heard).toEqual(["text"]);
});

test("what a shell says by itself is no output, but is kept for errors", () => {
  const { output, heard } = listen();
  output.openReader().stderr("sh: 1: something is missing\n");
  expect(heard).toEqual([]);
  expect(output.noise).toBe("sh: 1: something is missing");
});

test("records that are far ahead are neither kept nor asked about one by one: the command can make any number", async () => {
  let asked = 0;
  const onGap = () => {
    asked++;
    output.catchUp(() => new Promise(() => {}));
  };
  const output: RelayOutput = new RelayOutput(
    { onStdoutChunk: () => {}, onStderrChunk: () => {} },
    { onGap, onTaken: () => {} },
  );
  const reader = output.openReader();
  for (let index = 1; index <= 100_000; index++) reader.stdout(record(index * 1000, "x"));
  expect(asked).toBeLessThanOrEqual(2);
});

test("what is far ahead, and was not kept here, is taken from the inbox in its turn", async () => {
  const { output, heard } = listen();
  output.openReader().stdout(record(5000, "last"));
  const kept = (name: string) => {
    const [, index] = /^out\.(\d+)$/.exec(name) ?? [];
    if (index === undefined || Number(index) > 5000) return undefined;
    return record(Number(index), index === "5000" ? "last" : "x");
  };
  await output.catchUp(async (name) => kept(name));
  expect(heard).toHaveLength(5001);
  expect(heard.at(-1)).toBe("last");
});

test("a line may come in any number of pieces, and one that never ends is not kept", () => {
  const { output, heard } = listen();
  const reader = output.openReader();
  for (let piece = 0; piece < 300_000; piece++) reader.stdout("endless, endless ");
  reader.stdout(`\n${record(0, "a")}`);
  expect(heard).toEqual(["a"]);
});

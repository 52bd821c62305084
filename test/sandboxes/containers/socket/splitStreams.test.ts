import { expect, it } from "vitest";
import { splitStreams } from "../../../../src/sandboxes/containers/socket/splitStreams.ts";

const STDOUT = 1;
const STDERR = 2;

const frame = (stream: number, text: string): Buffer => {
  const content = Buffer.from(text);
  const header = Buffer.alloc(8);
  header[0] = stream;
  header.writeUInt32BE(content.length, 4);
  return Buffer.concat([header, content]);
};

const split = (bytes: Buffer, size: number) => {
  const heard: { stdout: Buffer[]; stderr: Buffer[] } = { stdout: [], stderr: [] };
  const push = splitStreams(
    (chunk) => heard.stdout.push(Buffer.from(chunk)),
    (chunk) => heard.stderr.push(Buffer.from(chunk)),
  );
  for (let at = 0; at < bytes.length; at += size) push(bytes.subarray(at, at + size));
  return [heard.stdout, heard.stderr].map((chunks) => Buffer.concat(chunks).toString());
};

const SENT = Buffer.concat([
  frame(STDOUT, "first, ä\n"),
  frame(STDERR, "a complaint\n"),
  frame(STDOUT, ""),
  frame(STDOUT, "x".repeat(1000)),
  frame(STDERR, "the last\n"),
]);

it.each([1, 2, 3, 7, 8, 9, 64, 5000])("is exact for chunks of %d bytes", (size) => {
  expect(split(SENT, size)).toEqual([`first, ä\n${"x".repeat(1000)}`, "a complaint\nthe last\n"]);
});

import { execFileSync } from "node:child_process";
import {
  closeSync,
  existsSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { copyUntrustedFile } from "../../../src/git/transfer/export/copyUntrustedFile.ts";
import { ImportRefusedError } from "../../../src/index.ts";
import { temporaryDirectory } from "../../helpers/repository/repository.ts";

const places = () => {
  const directory = temporaryDirectory();
  return { directory, source: join(directory, "source"), destination: join(directory, "destination") };
};

it("a file is taken byte by byte", async () => {
  const { source, destination } = places();
  const bytes = Buffer.from(Array.from({ length: 300_000 }, (_, number) => number % 256));
  writeFileSync(source, bytes);
  await copyUntrustedFile(source, destination);
  expect(readFileSync(destination).equals(bytes)).toBe(true);
});

it.each([
  ["a symbolic link", (source: string) => symlinkSync("/etc/passwd", source)],
  ["a link that leads nowhere", (source: string) => symlinkSync("/nowhere", source)],
  ["a directory", (source: string) => mkdirSync(source)],
  ["a FIFO", (source: string) => execFileSync("mkfifo", [source])],
  ["nothing", () => undefined],
])("%s is refused, and nothing is written", async (_, make) => {
  const { source, destination } = places();
  make(source);
  await expect(copyUntrustedFile(source, destination)).rejects.toBeInstanceOf(ImportRefusedError);
  expect(existsSync(destination)).toBe(false);
});

it("an existing destination is not written through", async () => {
  const { directory, source, destination } = places();
  writeFileSync(source, "evil");
  writeFileSync(join(directory, "precious"), "precious");
  symlinkSync(join(directory, "precious"), destination);
  await expect(copyUntrustedFile(source, destination)).rejects.toBeInstanceOf(Error);
  expect(readFileSync(join(directory, "precious"), "utf8")).toBe("precious");
});

it("a file that grows while it is taken comes to an end", async () => {
  const { source, destination } = places();
  writeFileSync(source, Buffer.alloc(4 * 1024 * 1024, 1));
  const piece = Buffer.alloc(64 * 1024, 1);
  const writer = openSync(source, "a");
  let isOver = false;
  const taking = copyUntrustedFile(source, destination)
    .catch((error: unknown) => expect(error).toBeInstanceOf(ImportRefusedError))
    .finally(() => {
      isOver = true;
    });
  // As much as is read in a turn of the event loop, so that a reader who waits for the end would not come to it.
  for (let written = 0; !isOver && written < 8000; written++) {
    writeSync(writer, piece);
    await new Promise((resolve) => setImmediate(resolve));
  }
  closeSync(writer);
  await taking;
  if (existsSync(destination)) expect(statSync(destination).size).toBeLessThan(statSync(source).size);
});

it("a file that is huge only in name does not fill the disk", async () => {
  const { source, destination } = places();
  const file = openSync(source, "w");
  ftruncateSync(file, 1024 ** 3);
  closeSync(file);
  await copyUntrustedFile(source, destination).catch((error: unknown) =>
    expect(error).toBeInstanceOf(ImportRefusedError),
  );
  const used = existsSync(destination) ? statSync(destination).blocks * 512 : 0;
  expect(used).toBeLessThan(64 * 1024 * 1024);
});

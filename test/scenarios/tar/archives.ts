/** One entry of an archive that no `tar` would write. */
export interface HandmadeEntry {
  readonly path: string;
  readonly type?: string;
  readonly target?: string;
  readonly mode?: number;
  readonly content?: string;
  /** What the header says, where that is not true. */
  readonly size?: number;
}

const octal = (value: number, length: number): string => `${value.toString(8).padStart(length - 1, "0")}\0`;

const headerOf = (entry: HandmadeEntry): Buffer => {
  const { path, type = "0", target = "", mode = 0o644, content = "" } = entry;
  const block = Buffer.alloc(512);
  block.write(path, 0, 100, "latin1");
  block.write(octal(mode, 8), 100, "latin1");
  block.write(octal(0, 8), 108, "latin1");
  block.write(octal(0, 8), 116, "latin1");
  block.write(octal(entry.size ?? Buffer.byteLength(content), 12), 124, "latin1");
  block.write(octal(0, 12), 136, "latin1");
  block.write(" ".repeat(8), 148, "latin1");
  block.write(type, 156, "latin1");
  block.write(target, 157, 100, "latin1");
  block.write("ustar\x0000", 257, "latin1");
  block.write(
    octal(
      block.reduce((sum, byte) => sum + byte, 0),
      7,
    ),
    148,
    "latin1",
  );
  return block;
};

/** An archive with these entries in it, as they are. */
export const handmadeArchive = (...entries: readonly HandmadeEntry[]): Buffer =>
  Buffer.concat([
    ...entries.flatMap((entry) => {
      const content = Buffer.from(entry.content ?? "");
      return [headerOf(entry), content, Buffer.alloc((512 - (content.length % 512)) % 512)];
    }),
    Buffer.alloc(1024),
  ]);

/** A record of an extended header. */
export const paxRecord = (key: string, value: string): string => {
  const rest = ` ${key}=${value}\n`;
  const guess = String(rest.length + 1).length + rest.length;
  return `${String(guess).length + rest.length}${rest}`;
};

import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { BadArchiveError } from "../../../src/scenarios/tar/tarHeader.ts";
import { unpackTar } from "../../../src/scenarios/tar/unpackTar.ts";
import { temporaryDirectory } from "../../helpers/repository/repository.ts";
import { type HandmadeEntry, handmadeArchive, paxRecord } from "./archives.ts";

const MAX_BYTES = 10 * 1024 * 1024;

const unpack = async (archive: Buffer, maxBytes = MAX_BYTES): Promise<string> => {
  const place = temporaryDirectory();
  const directory = join(place, "fresh");
  mkdirSync(directory);
  writeFileSync(join(place, "archive.tar"), archive);
  await unpackTar(join(place, "archive.tar"), directory, { maxBytes });
  return directory;
};

const ODD_NAMES = [
  "plain.txt",
  "with space ",
  "-leading",
  "new\nline",
  "\u001b[31mred",
  "päth",
  `${"long".repeat(60)}.txt`,
  `deep/${"directory/".repeat(20)}file`,
];

describe.each(["ustar", "pax", "gnu"])("an archive of tar in the format %s", (format) => {
  const pack = (directory: string): Buffer =>
    execFileSync("tar", [`--format=${format}`, "-cf", "-", "-C", directory, "."], {
      stdio: ["ignore", "pipe", "ignore"],
      maxBuffer: MAX_BYTES,
    });

  it("is unpacked as it was, with odd names, modes and links", async () => {
    const source = temporaryDirectory();
    const names = format === "ustar" ? ODD_NAMES.filter((name) => !name.startsWith("long")) : ODD_NAMES;
    for (const name of names) {
      mkdirSync(join(source, name, ".."), { recursive: true });
      writeFileSync(join(source, name), `content of ${name}`);
    }
    writeFileSync(Buffer.concat([Buffer.from(`${source}/not-utf8-`), Buffer.from([0xff, 0xfe])]), "bytes");
    writeFileSync(join(source, "large"), Buffer.alloc(3_000_000, "x"));
    writeFileSync(join(source, "program"), "#!/bin/sh\n");
    chmodSync(join(source, "program"), 0o4755);
    linkSync(join(source, "plain.txt"), join(source, "same.txt"));
    symlinkSync("plain.txt", join(source, "inside"));
    symlinkSync("/usr/bin/python3", join(source, "outside"));
    mkdirSync(join(source, "empty"));
    execFileSync("mkfifo", [join(source, "pipe")]);

    const unpacked = await unpack(pack(source));
    for (const name of names) expect(readFileSync(join(unpacked, name), "utf8")).toBe(`content of ${name}`);
    const inBytes = readdirSync(unpacked, { encoding: "latin1" });
    expect(inBytes).toContain("not-utf8-\xff\xfe");
    expect(statSync(join(unpacked, "large")).size).toBe(3_000_000);
    expect(statSync(join(unpacked, "program")).mode & 0o7777).toBe(0o755);
    expect(statSync(join(unpacked, "same.txt")).ino).toBe(statSync(join(unpacked, "plain.txt")).ino);
    expect(readlinkSync(join(unpacked, "inside"))).toBe("plain.txt");
    expect(readlinkSync(join(unpacked, "outside"))).toBe("/usr/bin/python3");
    expect(readdirSync(join(unpacked, "empty"))).toEqual([]);
    expect(existsSync(join(unpacked, "pipe"))).toBe(false);
    expect(readdirSync(unpacked)).toHaveLength(readdirSync(source).length - 1);
  });
});

const file = (path: string): HandmadeEntry => ({ path, content: "mine" });

describe("a hostile archive", () => {
  it.each<[string, readonly HandmadeEntry[]]>([
    ["a path upwards", [file("../out")]],
    ["a path upwards in the middle", [file("a/../../out")]],
    ["an absolute path", [file("/tmp/out")]],
    [
      "a path upwards in an extended header",
      [{ path: "x", type: "x", content: paxRecord("path", "../out") }, file("a")],
    ],
    ["a path upwards in a long name", [{ path: "x", type: "L", content: "../out\0" }, file("a")]],
    ["a file below a symbolic link", [{ path: "a", type: "2", target: ".." }, file("a/out")]],
    [
      "a directory below a symbolic link",
      [
        { path: "a", type: "2", target: ".." },
        { path: "a/out", type: "5" },
      ],
    ],
    ["a file in the place of a symbolic link", [{ path: "a", type: "2", target: "../out" }, file("a")]],
    [
      "a symbolic link in the place of a directory",
      [
        { path: "a", type: "5" },
        { path: "a", type: "2", target: ".." },
      ],
    ],
    ["a hard link to a file outside", [{ path: "a", type: "1", target: "../archive.tar" }]],
    ["a hard link to an absolute path", [{ path: "a", type: "1", target: "/etc/passwd" }]],
    [
      "a hard link to a symbolic link",
      [
        { path: "a", type: "2", target: "/etc/passwd" },
        { path: "b", type: "1", target: "a" },
      ],
    ],
    ["a character device", [{ path: "a", type: "3" }]],
    ["a block device", [{ path: "a", type: "4" }]],
    ["an entry of an unknown type", [{ path: "a", type: "S" }]],
    ["a file below a file", [file("a"), file("a/b")]],
    ["a file with more content than there is", [{ ...file("a"), size: 1_000_000 }]],
    ["a name of a megabyte", [{ path: "x", type: "L", content: "x".repeat(1024 * 1024) }, file("a")]],
    [
      "an extended header that goes on and on",
      [{ path: "x", type: "x", content: "999999 path=a\n" }, file("a")],
    ],
    ["an extended header without a length", [{ path: "x", type: "x", content: "path=a\n" }, file("a")]],
    ["a sparse file", [{ path: "x", type: "x", content: paxRecord("GNU.sparse.major", "1") }, file("a")]],
    ["an absurd size", [{ path: "x", type: "x", content: paxRecord("size", "-1") }, file("a")]],
  ])("with %s is refused", async (_, entries) => {
    const place = temporaryDirectory();
    const directory = join(place, "fresh");
    mkdirSync(directory);
    writeFileSync(join(place, "archive.tar"), handmadeArchive(...entries));
    await expect(
      unpackTar(join(place, "archive.tar"), directory, { maxBytes: MAX_BYTES }),
    ).rejects.toBeInstanceOf(BadArchiveError);
    expect(readdirSync(place).sort()).toEqual(["archive.tar", "fresh"]);
  });

  it.each([
    ["a wrong checksum", (archive: Buffer) => archive.fill("z", 0, 1)],
    ["no end", (archive: Buffer) => archive.subarray(0, 1024)],
    ["nothing in it", () => Buffer.alloc(0)],
    ["something else than an archive in it", () => Buffer.from("not an archive".repeat(100))],
  ])("with %s is refused", async (_, spoil) => {
    await expect(unpack(spoil(handmadeArchive(file("a"))))).rejects.toBeInstanceOf(BadArchiveError);
  });

  it("that is too large is refused before anything is unpacked", async () => {
    await expect(unpack(handmadeArchive(file("a")), 1000)).rejects.toThrow("larger than 1000 bytes");
  });

  it("drops setuid bits, and lets the owner always enter the directories", async () => {
    const unpacked = await unpack(
      handmadeArchive(
        { ...file("program"), mode: 0o6755 },
        { path: "closed", type: "5", mode: 0o1000 },
        file("closed/a"),
      ),
    );
    expect(lstatSync(join(unpacked, "program")).mode & 0o7777).toBe(0o755);
    expect(lstatSync(join(unpacked, "closed")).mode & 0o7777).toBe(0o700);
    expect(readFileSync(join(unpacked, "closed/a"), "utf8")).toBe("mine");
  });
});

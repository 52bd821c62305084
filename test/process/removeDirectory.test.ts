import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { removeDirectory } from "../../src/process/removeDirectory.ts";
import { temporaryDirectory } from "../helpers/repository/repository.ts";

it("removes read-only directories", async () => {
  const path = join(temporaryDirectory(), "cache");
  mkdirSync(path);
  writeFileSync(join(path, "file"), "");
  chmodSync(path, 0o500);
  await removeDirectory(path);
  expect(existsSync(path)).toBe(false);
});

it.each([1, 150, 500])("removes directories of %d entries", async (count) => {
  const path = join(temporaryDirectory(), "files");
  for (let number = 0; number < count; number++) {
    const directory = join(path, String(number % 7), "inner");
    mkdirSync(directory, { recursive: true });
    writeFileSync(join(directory, String(number)), "");
  }
  await removeDirectory(path);
  expect(existsSync(path)).toBe(false);
});

it("follows no link, and removes one in place of a directory", async () => {
  const directory = temporaryDirectory();
  const [kept, path, link] = ["kept", "files", "link"].map((name) => join(directory, name)) as [
    string,
    string,
    string,
  ];
  for (const made of [kept, path]) mkdirSync(made);
  writeFileSync(join(kept, "file"), "");
  symlinkSync(kept, join(path, "inner"));
  symlinkSync(kept, link);
  await removeDirectory(path);
  await removeDirectory(link);
  expect(readdirSync(directory)).toEqual(["kept"]);
  expect(readdirSync(kept)).toEqual(["file"]);
});

// Elsewhere names are UTF-8.
it.skipIf(process.platform !== "linux")(
  "follows no link whose name another entry has when it is read as UTF-8",
  async () => {
    const directory = temporaryDirectory();
    const [kept, path] = [join(directory, "kept"), join(directory, "files")];
    for (const made of [kept, path]) mkdirSync(made);
    writeFileSync(join(kept, "file"), "");
    const makers = [
      (place: string) => mkdirSync(Buffer.concat([Buffer.from(`${place}/`), Buffer.from([0xff])])),
      (place: string) => symlinkSync(kept, join(place, "\ufffd")),
    ];
    // Which entry is listed first depends on the file system.
    for (const [name, order] of Object.entries({ one: makers, other: makers.toReversed() })) {
      mkdirSync(join(path, name));
      for (const make of order) make(join(path, name));
    }
    await removeDirectory(path);
    expect(readdirSync(directory)).toEqual(["kept"]);
    expect(readdirSync(kept)).toEqual(["file"]);
  },
);

/** Exchanges directories for links, and back, as fast as it can: `renameat2` with `RENAME_EXCHANGE`, which Node.js does not have. */
const EXCHANGE = `$| = 1;
my ($number, $directory, $count) = @ARGV;
print "begun";
for (;;) { for my $n (0 .. $count - 1) {
  syscall($number + 0, -100, "$directory/$n/real", -100, "$directory/$n/link", 2);
} }`;
const RENAMEAT2: Readonly<Record<string, number>> = { x64: 316, arm64: 276 };
const renameat2 = process.platform === "linux" ? RENAMEAT2[process.arch] : undefined;

it.skipIf(renameat2 === undefined)(
  "removes nothing behind a link that a process puts in the place of a directory meanwhile",
  async () => {
    const ROUNDS = 30;
    const COUNT = 200;
    const directory = temporaryDirectory();
    const [kept, path] = [join(directory, "kept"), join(directory, "files")];
    mkdirSync(kept);
    const names = Array.from({ length: 50 }, (_, number) => String(number)).sort();
    for (const name of names) writeFileSync(join(kept, name), "");
    for (let round = 0; round < ROUNDS; round++) {
      for (let number = 0; number < COUNT; number++) {
        const place = join(path, String(number));
        mkdirSync(join(place, "real"), { recursive: true });
        symlinkSync(kept, join(place, "link"));
      }
      const child = spawn("perl", ["-e", EXCHANGE, String(renameat2), path, String(COUNT)], {
        stdio: ["ignore", "pipe", "ignore"],
      });
      try {
        await once(child.stdout, "data");
        // What it leaves behind when it is removed meanwhile is none of the files that are kept.
        await removeDirectory(path).catch(() => {});
        expect(readdirSync(kept).sort()).toEqual(names);
      } finally {
        child.kill("SIGKILL");
        await once(child, "exit");
      }
      await removeDirectory(path);
    }
  },
);

it("waits for a process that is about to end and still writes", async () => {
  const path = join(temporaryDirectory(), "files");
  mkdirSync(path);
  const script = `echo begun; for n in $(seq 300); do mkdir -p "$0/$n/a"; : > "$0/$n/a/b"; done`;
  const writer = spawn("sh", ["-c", script, path], { stdio: ["ignore", "pipe", "ignore"] });
  const hasEnded = once(writer, "exit");
  await once(writer.stdout, "data");
  await removeDirectory(path);
  await hasEnded;
  await removeDirectory(path);
  expect(existsSync(path)).toBe(false);
});

it("has nothing to do for a directory that does not exist", async () => {
  await removeDirectory(join(temporaryDirectory(), "missing"));
});

it.skipIf(!existsSync("/proc/self"))("rejects with a HostFileError if the system refuses", async () => {
  const path = `/proc/${process.pid}/fdinfo`;
  await expect(removeDirectory(path)).rejects.toMatchObject({
    name: "HostFileError",
    path: expect.stringContaining(path),
  });
});

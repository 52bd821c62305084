import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { HostFileError } from "../../src/errors.ts";
import { copyTree } from "../../src/process/copyTree.ts";
import { temporaryDirectory } from "../helpers/repository/repository.ts";
import { isRoot } from "../helpers/runtimes/runtimes.ts";

const tree = (): { readonly from: string; readonly to: string } => {
  const directory = temporaryDirectory();
  mkdirSync(join(directory, "from"));
  return { from: join(directory, "from"), to: join(directory, "to") };
};

test("files, modes, times, links, holes and odd names are the same in a copied tree", async () => {
  const { from, to } = tree();
  mkdirSync(join(from, "inner", "empty"), { recursive: true });
  writeFileSync(join(from, "script"), "#!/bin/sh\n", { mode: 0o751 });
  utimesSync(join(from, "script"), 1.25, 1234567890.123456);
  symlinkSync("/nowhere/at all", join(from, "dangling"));
  execFileSync("ln", [join(from, "script"), join(from, "inner", "hard")]);
  execFileSync("truncate", ["-s", "1G", join(from, "sparse")]);
  const odd = Buffer.from([0x2d, 0x6e, 0x0a, 0x1b, 0xff, 0x20]);
  writeFileSync(Buffer.concat([Buffer.from(`${from}/`), odd]), "odd");
  execFileSync("mkfifo", [join(from, "pipe")]);
  await copyTree(from, to);
  expect(readdirSync(to, { encoding: "buffer" }).map(String).sort()).toEqual(
    readdirSync(from, { encoding: "buffer" }).map(String).sort(),
  );
  const [one, other] = [from, to].map((path) => lstatSync(join(path, "script"), { bigint: true }));
  expect(other?.mode).toBe(one?.mode);
  expect(other?.mtimeNs).toBe(one?.mtimeNs);
  expect(readlinkSync(join(to, "dangling"))).toBe("/nowhere/at all");
  expect(lstatSync(join(to, "inner", "hard")).ino).toBe(lstatSync(join(to, "script")).ino);
  expect(lstatSync(join(to, "sparse")).blocks).toBeLessThan(1000);
  expect(readFileSync(Buffer.concat([Buffer.from(`${to}/`), odd]), "utf8")).toBe("odd");
  expect(lstatSync(join(to, "pipe")).isFIFO()).toBe(true);
});

test("a directory that is exchanged for a link meanwhile shows no file of the host", async () => {
  const { from, to } = tree();
  const secret = join(temporaryDirectory(), "secret");
  mkdirSync(secret);
  for (let count = 0; count < 50; count++) writeFileSync(join(secret, `file-${count}`), "HOST SECRET");
  const work = join(from, "work");
  mkdirSync(work);
  for (let count = 0; count < 50; count++) writeFileSync(join(work, `file-${count}`), "own");
  const stop = join(secret, "..", "stop");
  const swap = `cd "$1"; until [ -e "$3" ]; do mv work away; ln -s "$2" work; rm work; mv away work; done`;
  const swapper = spawn("sh", ["-c", swap, "sh", from, secret, stop], { stdio: "ignore" });
  const ended = once(swapper, "exit");
  // A signal would not end the command that the shell has just started.
  onTestFinished(async () => {
    writeFileSync(stop, "");
    await ended;
  });
  for (let round = 0; round < 40; round++) {
    const copy = join(to, String(round));
    await copyTree(from, copy).catch((error: unknown) => expect(error).toBeInstanceOf(HostFileError));
    if (!existsSync(copy)) continue;
    for (const name of ["work", "away"]) {
      const copied = join(copy, name);
      if (!existsSync(copied) || lstatSync(copied).isSymbolicLink()) continue;
      for (const file of readdirSync(copied)) expect(readFileSync(join(copied, file), "utf8")).toBe("own");
    }
  }
});

test("an abort rejects with its reason, and leaves nothing", async () => {
  const { from, to } = tree();
  writeFileSync(join(from, "file"), "");
  const controller = new AbortController();
  const reason = new Error("never mind");
  const copying = copyTree(from, to, controller.signal);
  controller.abort(reason);
  await expect(copying).rejects.toBe(reason);
  expect(existsSync(to)).toBe(false);
});

test.skipIf(isRoot)("a file that cannot be read fails the copy, and leaves nothing", async () => {
  const { from, to } = tree();
  writeFileSync(join(from, "file"), "", { mode: 0 });
  await expect(copyTree(from, to)).rejects.toMatchObject({ errorCode: "EACCES", path: join(from, "file") });
  expect(existsSync(to)).toBe(false);
});

test("a missing directory is an error", async () => {
  const { from, to } = tree();
  await expect(copyTree(join(from, "missing"), to)).rejects.toThrow(HostFileError);
  expect(existsSync(to)).toBe(false);
});

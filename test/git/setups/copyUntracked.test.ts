import { execFileSync, spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { copyUntracked } from "../../../src/git/setups/copyUntracked.ts";
import { temporaryDirectory } from "../../helpers/repository/repository.ts";
import { describeWith } from "../../helpers/runtimes/runtimes.ts";

const copying = (from: string, to: string, paths: readonly string[]) =>
  copyUntracked(
    { from, to, refuse: () => undefined, signal: new AbortController().signal },
    paths.map((path) => Buffer.from(path).toString("latin1")),
  );

it("copies odd names, links and empty directories, and follows no link", async () => {
  const [from, to] = [temporaryDirectory(), temporaryDirectory()];
  mkdirSync(join(from, "a/empty"), { recursive: true });
  writeFileSync(join(from, "a/new\nline ü"), "odd");
  symlinkSync("/etc/passwd", join(from, "a/link"));
  expect(await copying(from, to, ["a/"])).toEqual({ files: 2, bytes: 3 });
  expect(readFileSync(join(to, "a/new\nline ü"), "utf8")).toBe("odd");
  expect(execFileSync("readlink", [join(to, "a/link")], { encoding: "utf8" })).toBe("/etc/passwd\n");
  expect(existsSync(join(to, "a/empty"))).toBe(true);
});

it("copies a large file piece by piece: other work continues meanwhile, and an abort ends it", async () => {
  const from = temporaryDirectory();
  const content = Buffer.alloc(64 * 1024 * 1024, "0123456789abcdef");
  writeFileSync(join(from, "large"), content);
  let turns = 0;
  const other = setInterval(() => turns++, 0);
  const to = temporaryDirectory();
  expect(await copying(from, to, ["large"])).toEqual({ files: 1, bytes: content.length });
  clearInterval(other);
  expect(turns).toBeGreaterThan(2);
  expect(readFileSync(join(to, "large")).equals(content)).toBe(true);

  const controller = new AbortController();
  setImmediate(() => controller.abort(new Error("enough")));
  const aborted = copyUntracked(
    { from, to: temporaryDirectory(), refuse: () => undefined, signal: controller.signal },
    ["large"],
  );
  await expect(aborted).rejects.toThrow("enough");
});

it("refuses a path through a link, a sparse file, and a named pipe", async () => {
  const from = temporaryDirectory();
  symlinkSync("/etc", join(from, "link"));
  writeFileSync(join(from, "sparse"), "");
  truncateSync(join(from, "sparse"), 100 * 1024 * 1024);
  execFileSync("mkfifo", [join(from, "pipe")]);
  await expect(copying(from, temporaryDirectory(), ["link/passwd"])).rejects.toThrow("no directory");
  await expect(copying(from, temporaryDirectory(), ["sparse"])).rejects.toThrow("sparse file");
  await expect(copying(from, temporaryDirectory(), ["pipe"])).rejects.toThrow("named pipe");
});

it("lets others work while it copies a large directory, and ends when it is aborted", async () => {
  const [from, to] = [temporaryDirectory(), temporaryDirectory()];
  const controller = new AbortController();
  mkdirSync(join(from, "a"));
  for (let number = 0; number < 1000; number++) writeFileSync(join(from, `a/${number}`), "");
  const running = copyUntracked({ from, to, refuse: () => undefined, signal: controller.signal }, ["a/"]);
  setImmediate(() => controller.abort());
  await expect(running).rejects.toThrow("aborted");
  expect(readdirSync(join(to, "a")).length).toBeLessThan(1000);
});

describeWith(["root"], "a copy to a disk", () => {
  it("on which only the beginning of a file fits fails", async (context) => {
    const [from, disk] = [temporaryDirectory(), temporaryDirectory()];
    const { status } = spawnSync("mount", ["-t", "tmpfs", "-o", "size=280k", "none", disk]);
    if (status !== 0) context.skip("this machine does not let root mount a tmpfs");
    onTestFinished(() => void execFileSync("umount", ["--lazy", disk]));
    writeFileSync(join(from, "file"), Buffer.alloc(300 * 1024, 1));
    await expect(copying(from, disk, ["file"])).rejects.toMatchObject({ code: "ENOSPC" });
  });
});

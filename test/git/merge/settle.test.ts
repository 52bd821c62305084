import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import * as Effect from "effect/Effect";
import { expect, it } from "vitest";
import { findNote, writeNote } from "../../../src/git/merge/mergeNote.ts";
import { examineMerge, type Settlement, settleMerge } from "../../../src/git/merge/settle.ts";
import { openRepository } from "../../../src/git/repository.ts";
import { git, temporaryDirectory, temporaryRepository } from "../../helpers/repository/repository.ts";

/** Commits whatever `change` does to the checkout, and gives the commit. */
const commit = (cwd: string, change: () => void): string => {
  change();
  git(cwd, "add", "--all");
  git(cwd, "commit", "--quiet", "--message", "Change");
  return git(cwd, "rev-parse", "HEAD");
};

interface Scene {
  readonly cwd: string;
  readonly from: string;
  readonly to: string;
  readonly path: (name: string) => string;
  /** Writes files as a merge does that is killed before it writes the index. Deleted ones are deleted. */
  write(...names: (string | Buffer)[]): void;
  settle(): Promise<Settlement>;
  /** Of the checkout, with every untracked file. */
  status(): string;
}

/** A checkout of `before` in which a merge of `after` has begun. */
const begunMerge = async (
  before: (cwd: string) => void,
  after: (cwd: string) => void,
  beforeMerge: (cwd: string) => void = () => {},
): Promise<Scene> => {
  const cwd = temporaryRepository();
  const from = commit(cwd, () => before(cwd));
  git(cwd, "switch", "--quiet", "--create", "work");
  const to = commit(cwd, () => after(cwd));
  git(cwd, "switch", "--quiet", "main");
  beforeMerge(cwd);
  const repository = await Effect.runPromise(openRepository(cwd));
  writeNote(repository, {
    ...{ runId: "20000101-000000-abcdef", sourceBranch: "work", targetBranch: "main" },
    ...{ checkoutPath: cwd, from, to, absent: [] },
  });
  const note = () => {
    const found = findNote(repository, cwd);
    if (found === undefined) throw new Error("there is no note");
    return found;
  };
  return {
    cwd,
    from,
    to,
    path: (name) => join(cwd, name),
    write: (...names) => {
      const env = { ...process.env, GIT_INDEX_FILE: join(temporaryDirectory(), "index") };
      execFileSync("git", ["read-tree", to], { cwd, env });
      const input = Buffer.concat(names.flatMap((name) => [Buffer.from(name as string), Buffer.from([0])]));
      execFileSync("git", ["checkout-index", "--force", "-z", "--stdin"], { cwd, env, input });
    },
    settle: async () => {
      const would = await Effect.runPromise(examineMerge(note()));
      const did = await Effect.runPromise(settleMerge(note()));
      expect(did).toEqual(would);
      expect(findNote(repository, cwd) !== undefined).toBe(did.outcome === "blocked");
      return did;
    },
    status: () => git(cwd, "status", "--porcelain", "--untracked-files=all"),
  };
};

const file = (name: string, content: string | Buffer) => (cwd: string) => {
  mkdirSync(join(cwd, name, ".."), { recursive: true });
  writeFileSync(join(cwd, name), content);
};
const all =
  (...changes: ((cwd: string) => void)[]) =>
  (cwd: string) => {
    for (const change of changes) change(cwd);
  };

const LONG = "a line of text\n".repeat(10_000);

it("puts back files that were written, half written or deleted, and removes directories that were made", async () => {
  const scene = await begunMerge(
    all(file("kept.txt", "old\n"), file("deleted.txt", "old\n"), file("half.txt", "old\n")),
    all(file("kept.txt", "new\n"), file("half.txt", LONG), file("deep/er/new.txt", "new\n"), (cwd) =>
      rmSync(join(cwd, "deleted.txt")),
    ),
  );
  scene.write("kept.txt", "half.txt", "deep/er/new.txt");
  truncateSync(scene.path("half.txt"), 70_000);
  rmSync(scene.path("deleted.txt"));
  writeFileSync(scene.path("mine.txt"), "the user's\n");
  expect(await scene.settle()).toMatchObject({ outcome: "restored" });
  expect(scene.status()).toBe("?? mine.txt");
  expect(existsSync(scene.path("deep"))).toBe(false);
  expect(readFileSync(scene.path("half.txt"), "utf8")).toBe("old\n");
});

it("knows a file whose end a power cut has filled with zeros, and one that is empty", async () => {
  const scene = await begunMerge(file("x", "x"), all(file("zeros.txt", LONG), file("empty.txt", LONG)));
  scene.write("zeros.txt", "empty.txt");
  truncateSync(scene.path("zeros.txt"), 1000);
  truncateSync(scene.path("zeros.txt"), 90_000);
  truncateSync(scene.path("empty.txt"), 0);
  expect(await scene.settle()).toMatchObject({ outcome: "restored" });
  expect(scene.status()).toBe("");
});

it("knows what filters of the user have made of a file, whole and in part", async () => {
  const scene = await begunMerge(
    all(file(".gitattributes", "*.txt eol=crlf\n"), file("a.txt", "old\n")),
    all(file("a.txt", "new\n".repeat(1000)), file("b.txt", "new\n")),
  );
  scene.write("a.txt", "b.txt");
  expect(readFileSync(scene.path("b.txt"), "utf8")).toBe("new\r\n");
  truncateSync(scene.path("a.txt"), 2501);
  expect(await scene.settle()).toMatchObject({ outcome: "restored" });
  expect(scene.status()).toBe("");
  expect(readFileSync(scene.path("a.txt"), "utf8")).toBe("old\r\n");
});

it("puts links, modes and names of any bytes back", async () => {
  const odd = Buffer.from([...Buffer.from('"odd\n'), 0xff, 0x20]);
  const oldOdd = Buffer.from([...Buffer.from("old\r\n"), 0xfe]);
  const at = (cwd: string, name: Buffer) => Buffer.concat([Buffer.from(`${cwd}/`), name]);
  const scene = await begunMerge(
    (cwd) => {
      file("run.sh", "#!/bin/sh\n")(cwd);
      symlinkSync("run.sh", join(cwd, "link"));
      writeFileSync(at(cwd, oldOdd), "old\n");
    },
    (cwd) => {
      chmodSync(join(cwd, "run.sh"), 0o755);
      rmSync(join(cwd, "link"));
      symlinkSync("elsewhere", join(cwd, "link"));
      for (const name of [odd, oldOdd]) writeFileSync(at(cwd, name), "new\n");
    },
  );
  scene.write("run.sh", "link", odd, oldOdd);
  expect(await scene.settle()).toMatchObject({ outcome: "restored" });
  expect(scene.status()).toBe("");
  expect(readlinkSync(scene.path("link"))).toBe("run.sh");
  expect(lstatSync(scene.path("run.sh")).mode & 0o111).toBe(0);
  expect(existsSync(at(scene.cwd, odd))).toBe(false);
  expect(readFileSync(at(scene.cwd, oldOdd), "utf8")).toBe("old\n");
});

it("turns directories back into files and files into directories, and follows no link out of the checkout", async () => {
  const outside = temporaryDirectory();
  writeFileSync(join(outside, "in.txt"), "new\n");
  writeFileSync(join(outside, "gone.txt"), "old\n");
  const scene = await begunMerge(
    all(file("file", "old\n"), file("directory/in.txt", "old\n"), (cwd) =>
      symlinkSync(outside, join(cwd, "to")),
    ),
    (cwd) => {
      for (const name of ["file", "directory", "to"]) rmSync(join(cwd, name), { recursive: true });
      all(file("file/in.txt", "new\n"), file("directory", "new\n"), file("to/in.txt", "new\n"))(cwd);
    },
  );
  rmSync(scene.path("file"));
  rmSync(scene.path("directory"), { recursive: true });
  // The link is not replaced yet: behind it is a file like the one that the merge would have made.
  scene.write("file/in.txt", "directory");
  expect(await scene.settle()).toMatchObject({ outcome: "restored" });
  expect(scene.status()).toBe("");
  expect(readFileSync(scene.path("file"), "utf8")).toBe("old\n");
  expect(readdirSync(outside).sort()).toEqual(["gone.txt", "in.txt"]);
});

it("leaves everything as it is if a file of the merge was changed since", async () => {
  const scene = await begunMerge(file("a.txt", "old\n"), all(file("a.txt", "new\n"), file("b.txt", "new\n")));
  scene.write("a.txt", "b.txt");
  appendFileSync(scene.path("b.txt"), "the user's\n");
  expect(await scene.settle()).toMatchObject({ outcome: "blocked", paths: ["b.txt"] });
  expect(scene.status()).toBe(" M a.txt\n?? b.txt");
  expect(readFileSync(scene.path("b.txt"), "utf8")).toBe("new\nthe user's\n");
});

it.each<[string, (path: string) => void]>([
  ["file", (path) => writeFileSync(path, "the user's\n")],
  ["link", (path) => symlinkSync(temporaryDirectory(), path)],
])("removes no %s that is now where a directory has to be put back", async (_, make) => {
  const scene = await begunMerge(
    all(file("a.txt", "old\n"), file("directory/in.txt", "old\n")),
    all(file("a.txt", "new\n"), (cwd) => rmSync(join(cwd, "directory"), { recursive: true })),
  );
  scene.write("a.txt");
  rmSync(scene.path("directory"), { recursive: true });
  make(scene.path("directory"));
  const made = lstatSync(scene.path("directory"));
  expect(await scene.settle()).toMatchObject({ outcome: "blocked", paths: ["directory/in.txt"] });
  expect(lstatSync(scene.path("directory"))).toMatchObject({ ino: made.ino, mtimeMs: made.mtimeMs });
});

it("does not take for its own what was there before the merge, whatever its content", async () => {
  const scene = await begunMerge(
    all(file("a.txt", "old\n"), file("b.txt", "old\n")),
    all(file("a.txt", "new\n"), file("b.txt", "new\n"), file("c.txt", "new\n")),
    // Git refuses such a merge, and touches nothing.
    all(file("a.txt", ""), file("b.txt", "new\n"), file("c.txt", "new\n")),
  );
  const notes = scene.path(".git/sanddune/merging");
  const later = new Date(Date.now() + 1000);
  for (const name of readdirSync(notes)) utimesSync(join(notes, name), later, later);
  expect(await scene.settle()).toEqual({ outcome: "untouched" });
  expect(scene.status()).toBe(" M a.txt\n M b.txt\n?? c.txt");
});

it("leaves what the user has staged alone, and files out of a sparse checkout absent", async () => {
  const scene = await begunMerge(
    all(file("a.txt", "old\n"), file("out/b.txt", "old\n"), file("c.txt", "old\n")),
    all(file("a.txt", "new\n"), file("out/b.txt", "new\n"), file("c.txt", "new\n")),
    (cwd) => {
      git(cwd, "sparse-checkout", "set", "--no-cone", "/*", "!/out/");
      file("a.txt", "new\n")(cwd);
      git(cwd, "add", "a.txt");
    },
  );
  scene.write("c.txt");
  expect(await scene.settle()).toEqual({ outcome: "restored", paths: ["c.txt"] });
  expect(scene.status()).toBe("M  a.txt");
  expect(existsSync(scene.path("out"))).toBe(false);
});

it("moves the branch if that was all that was missing", async () => {
  const scene = await begunMerge(file("a.txt", "old\n"), all(file("a.txt", "new\n"), file("b.txt", "new\n")));
  git(scene.cwd, "read-tree", "-m", "-u", scene.from, scene.to);
  expect(await scene.settle()).toEqual({ outcome: "completed" });
  expect(git(scene.cwd, "rev-parse", "main")).toBe(scene.to);
  expect(scene.status()).toBe("");
});

it("does nothing once the branch has moved, or the checkout is on another one", async () => {
  for (const move of [
    ["commit", "--quiet", "--allow-empty", "-m", "User's"],
    ["switch", "--quiet", "--create", "x"],
  ]) {
    const scene = await begunMerge(
      file("a.txt", "old\n"),
      all(file("a.txt", "new\n"), file("b.txt", "new\n")),
    );
    scene.write("b.txt");
    git(scene.cwd, ...move);
    expect(await scene.settle()).toEqual({ outcome: "untouched" });
    expect(scene.status()).toBe("?? b.txt");
  }
});

it("removes locks that are not older than the merge, and respects the others", async () => {
  for (const isOlder of [false, true]) {
    const scene = await begunMerge(file("a.txt", "old\n"), file("a.txt", "new\n"));
    scene.write("a.txt");
    const lock = scene.path(".git/index.lock");
    writeFileSync(lock, "");
    if (isOlder) utimesSync(lock, new Date(0), new Date(0));
    const settlement = await scene.settle();
    if (isOlder)
      expect(settlement).toMatchObject({ outcome: "blocked", lockPaths: [lock], paths: ["a.txt"] });
    else expect(settlement).toMatchObject({ outcome: "restored" });
    expect(existsSync(lock)).toBe(isOlder);
  }
});

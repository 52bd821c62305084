import { execFileSync } from "node:child_process";
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { SandboxError } from "../../../src/errors.ts";
import type { IsolatedSandboxHandle } from "../../../src/sandboxes/contract.ts";
import { bundle } from "../../helpers/bundle.ts";
import { useOwnTemporaryDirectory } from "../../helpers/repository/ownTemporaryDirectory.ts";
import { temporaryDirectory } from "../../helpers/repository/repository.ts";
import { asOrdinaryUser } from "../../helpers/runtimes/ordinaryUser.ts";
import { libraryCallSandbox } from "../services/libraryCallSandbox.ts";

useOwnTemporaryDirectory();

const withSandbox = async (use: (sandbox: IsolatedSandboxHandle) => Promise<void>): Promise<void> => {
  const sandbox = await libraryCallSandbox();
  try {
    await use(sandbox);
  } finally {
    await sandbox.close();
  }
};

const failureOf = (attempt: Promise<unknown>): Promise<SandboxError> =>
  attempt.then(
    () => expect.unreachable(),
    (error) => error,
  );

it("a directory arrives with its modes, its links and its names, and nothing is read through a link", async () => {
  const outside = temporaryDirectory();
  writeFileSync(join(outside, "secret"), "secret");
  const tree = join(temporaryDirectory(), "tree");
  mkdirSync(join(tree, "empty/deeper"), { recursive: true });
  mkdirSync(join(tree, "closed"));
  writeFileSync(join(tree, "closed/file"), "");
  chmodSync(join(tree, "closed"), 0o500);
  for (const mode of [0o400, 0o640, 0o755]) writeFileSync(join(tree, mode.toString(8)), "", { mode });
  const names = ["-rf", "new\nline", "ünï☃", " leading", "trailing ", "*", "back\\slash", "y".repeat(255)];
  for (const name of names) writeFileSync(join(tree, name), name);
  symlinkSync(join(outside, "secret"), join(tree, "link-to-file"));
  symlinkSync(outside, join(tree, "link-to-directory"));
  symlinkSync("link-to-itself", join(tree, "link-to-itself"));
  await withSandbox(async (sandbox) => {
    const target = join(sandbox.worktreePath, "target");
    await sandbox.copyIn(tree, target);
    expect(readdirSync(target).sort()).toEqual(readdirSync(tree).sort());
    expect(readdirSync(join(target, "empty"))).toEqual(["deeper"]);
    expect(statSync(join(target, "closed")).mode & 0o777).toBe(0o500);
    for (const mode of [0o400, 0o640, 0o755]) {
      expect(statSync(join(target, mode.toString(8))).mode & 0o777).toBe(mode);
    }
    for (const name of names) expect(readFileSync(join(target, name), "utf8")).toBe(name);
    expect(readlinkSync(join(target, "link-to-file"))).toBe(join(outside, "secret"));
    expect(readlinkSync(join(target, "link-to-directory"))).toBe(outside);
    expect(readlinkSync(join(target, "link-to-itself"))).toBe("link-to-itself");
  });
  chmodSync(join(tree, "closed"), 0o700);
});

it("an empty directory is a directory", async () => {
  await withSandbox(async (sandbox) => {
    await sandbox.copyIn(temporaryDirectory(), `${sandbox.worktreePath}/a/b/c`);
    expect(readdirSync(join(sandbox.worktreePath, "a/b/c"))).toEqual([]);
  });
});

it("a link stays a link, and takes the place of another one", async () => {
  const link = join(temporaryDirectory(), "link");
  symlinkSync("some where's/else", link);
  await withSandbox(async (sandbox) => {
    const target = join(sandbox.worktreePath, "made/link");
    for (const _ of [1, 2]) await sandbox.copyIn(link, target);
    expect(lstatSync(target).isSymbolicLink()).toBe(true);
    expect(readlinkSync(target)).toBe("some where's/else");
    expect(readdirSync(join(sandbox.worktreePath, "made"))).toEqual(["link"]);
  });
});

it("a pipe is refused, and blocks nothing", async () => {
  const pipe = join(temporaryDirectory(), "pipe");
  execFileSync("mkfifo", [pipe]);
  await withSandbox(async (sandbox) => {
    const error = await failureOf(sandbox.copyIn(pipe, `${sandbox.worktreePath}/pipe`));
    expect(error).toBeInstanceOf(SandboxError);
    expect(error.message).toMatch(/pipe" was not copied in: it is not a regular file/);
  });
});

it("what is not absolute in the sandbox is refused", async () => {
  await withSandbox(async (sandbox) => {
    const error = await failureOf(sandbox.copyIn(temporaryDirectory(), "target"));
    expect(error.message).toContain('"target" is not an absolute path in the sandbox');
  });
});

it("a file in the place of the directory is a failure that says so, and not half a copy", async () => {
  const tree = temporaryDirectory();
  writeFileSync(join(tree, "file"), "");
  await withSandbox(async (sandbox) => {
    await sandbox.exec("echo precious >target");
    const error = await failureOf(sandbox.copyIn(tree, `${sandbox.worktreePath}/target`));
    expect(error).toBeInstanceOf(SandboxError);
    expect(error.message).toContain("unpacking it in the sandbox failed");
    expect((await sandbox.exec("cat target")).stdout).toBe("precious\n");
  });
});

it("files that the user may not read are a failure that names them, alone or in a directory", async () => {
  const directory = temporaryDirectory();
  const tree = join(directory, "tree");
  mkdirSync(tree);
  writeFileSync(join(tree, "open"), "");
  writeFileSync(join(tree, "unreadable"), "", { mode: 0o000 });
  await withSandbox(async (sandbox) => {
    await asOrdinaryUser(directory, async () => {
      const temporary = process.env["TMPDIR"];
      process.env["TMPDIR"] = mkdtempSync(join(directory, "tmp-"));
      try {
        for (const name of [tree, join(tree, "unreadable")]) {
          const error = await failureOf(sandbox.copyIn(name, `${sandbox.worktreePath}/target`));
          expect(error).toBeInstanceOf(SandboxError);
          expect(error.message).toMatch(/unreadable.*(denied|EACCES)|EACCES.*unreadable/is);
        }
        expect(readdirSync(process.env["TMPDIR"])).toEqual([]);
      } finally {
        process.env["TMPDIR"] = temporary;
      }
    });
    expect((await sandbox.exec("ls -A")).stdout).not.toContain("target");
  });
});

/** Far less than the files, and more than what is under way at a time. */
const MAX_GROWTH_MEBIBYTES = 100;

it.each([
  ["a file of more than a gigabyte", 1_100_000_000, "large"],
  ["a directory with a large file", 200_000_000, "."],
])(
  "%s is copied without being held in memory",
  (_, size, copied) => {
    const directory = temporaryDirectory();
    writeFileSync(join(directory, "large"), "");
    truncateSync(join(directory, "large"), size);
    const program = bundle(join(import.meta.dirname, "copyInUnderLimits.ts"));
    const printed = execFileSync(process.execPath, ["--expose-gc", program, join(directory, copied)], {
      encoding: "utf8",
    });
    const { bytes, growth } = JSON.parse(printed) as { bytes: number; growth: number };
    expect(bytes).toBe(size);
    expect(growth).toBeLessThan(MAX_GROWTH_MEBIBYTES);
  },
  300_000,
);

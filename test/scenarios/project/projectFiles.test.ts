import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ProjectFiles } from "../../../src/scenarios/project/projectFiles.ts";
import { temporaryDirectory } from "../../helpers/repository/repository.ts";

/** A project with some of everything, next to things that are none of its business. */
const hostileProject = (): { files: ProjectFiles; outside: string } => {
  const outside = temporaryDirectory();
  writeFileSync(join(outside, "secret.txt"), "secret");
  mkdirSync(join(outside, "directory"));
  const root = join(outside, "project");
  mkdirSync(join(root, "sub/deep"), { recursive: true });
  writeFileSync(join(root, "a.txt"), "a");
  writeFileSync(join(root, "sub/b.txt"), "b");
  writeFileSync(join(root, "öä\n.txt"), "odd");
  execFileSync("mkfifo", [join(root, "pipe")]);
  const links: Record<string, string> = {
    "to-file": "sub/b.txt",
    "to-directory": "sub",
    "to-absolute-inside": join(root, "a.txt"),
    "to-nothing": "missing/below.txt",
    "to-itself": "to-itself",
    "to-secret": "../secret.txt",
    "to-absolute-secret": join(outside, "secret.txt"),
    "to-outside": "..",
    "to-outside-by-detour": "to-top/../secret.txt",
    "to-top": "sub/..",
    "to-sibling": "../project-other/x",
  };
  for (const [name, target] of Object.entries(links)) symlinkSync(target, join(root, name));
  return { files: new ProjectFiles(root), outside };
};

test.each([
  ["a.txt", "file"],
  ["./sub//b.txt", "file"],
  ["sub/../a.txt", "file"],
  ["öä\n.txt", "file"],
  ["to-file", "file"],
  ["to-directory/b.txt", "file"],
  ["to-absolute-inside", "file"],
  ["to-top/a.txt", "file"],
  [".", "directory"],
  ["sub", "directory"],
  ["sub/deep/", "directory"],
  ["to-directory", "directory"],
  ["missing", "absent"],
  ["missing/below", "absent"],
  ["a.txt/below", "absent"],
  ["to-directory/missing", "absent"],
  ["to-nothing/below", "absent"],
  ["pipe", "other"],
  ["to-nothing", "other"],
])("In a project, %j is of the kind %s", (path, kind) => {
  expect(hostileProject().files.kindOf(path)).toBe(kind);
});

const LEAVING = [
  ["", "empty"],
  ["a\0b", "NUL"],
  ["/etc/passwd", "absolute"],
  ["..", "outside"],
  ["../secret.txt", "outside"],
  ["sub/../../secret.txt", "outside"],
  ["missing/../../secret.txt", "leads back"],
  ["to-secret", "outside"],
  ["to-absolute-secret", "outside"],
  ["to-outside/secret.txt", "outside"],
  ["to-outside/new.txt", "outside"],
  ["to-outside-by-detour", "outside"],
  ["to-sibling", "outside"],
  ["to-itself", "circle"],
] as const;

test.each(LEAVING)("Nothing is done with %j, which leaves the project", async (path, reason) => {
  const { files, outside } = hostileProject();
  expect(() => files.kindOf(path)).toThrow(reason);
  await expect(files.read(path, 100)).rejects.toThrow(reason);
  await expect(files.sha256(path, AbortSignal.timeout(10_000))).rejects.toThrow(reason);
  await expect(files.write(path, "overwritten")).rejects.toThrow(reason);
  await expect(files.append(path, "overwritten")).rejects.toThrow(reason);
  expect(readFileSync(join(outside, "secret.txt"), "utf8")).toBe("secret");
  expect(readdirSync(outside).sort()).toEqual(["directory", "project", "secret.txt"]);
});

test("A link in the place of the project itself leads nowhere", () => {
  const { files, outside } = hostileProject();
  renameSync(files.root, join(outside, "moved"));
  symlinkSync(".", files.root);
  expect(() => files.kindOf("secret.txt")).toThrow("something else");
});

test.each([
  ["sub", "it is a directory"],
  ["pipe", "it is not a regular file"],
  ["missing", "there is no such file"],
])("Reading %j fails at once", async (path, reason) => {
  const { files } = hostileProject();
  await expect(files.read(path, 100)).rejects.toThrow(reason);
  await expect(files.sha256(path, AbortSignal.timeout(10_000))).rejects.toThrow(reason);
});

test("A file that is too large is not read", async () => {
  const { files } = hostileProject();
  truncateSync(join(files.root, "a.txt"), 101);
  await expect(files.read("a.txt", 100)).rejects.toThrow("it has 101 bytes, and no more than 100 are read");
  expect(await files.read("a.txt", 101)).toHaveLength(101);
});

test("Hashing a file that is larger than any disk ends when it is aborted", async () => {
  const { files } = hostileProject();
  truncateSync(join(files.root, "a.txt"), 2 ** 40);
  const controller = new AbortController();
  const hashing = files.sha256("a.txt", controller.signal);
  controller.abort();
  await expect(hashing).rejects.toThrow();
});

test("Writing makes missing directories and replaces what the file held, also behind links within the project", async () => {
  const { files } = hostileProject();
  await files.write("new/er/est.txt", "new");
  await files.write("to-file", "through the link");
  await files.write("to-nothing", "through the other link");
  expect(readFileSync(join(files.root, "new/er/est.txt"), "utf8")).toBe("new");
  expect(readFileSync(join(files.root, "sub/b.txt"), "utf8")).toBe("through the link");
  expect(readFileSync(join(files.root, "missing/below.txt"), "utf8")).toBe("through the other link");
});

test("Appending adds to a file and makes one, but no directories", async () => {
  const { files } = hostileProject();
  await files.append("a.txt", "+");
  await files.append("new.txt", "new");
  expect(readFileSync(join(files.root, "a.txt"), "utf8")).toBe("a+");
  expect(readFileSync(join(files.root, "new.txt"), "utf8")).toBe("new");
  await expect(files.append("new/er.txt", "x")).rejects.toThrow("ENOENT");
  expect(existsSync(join(files.root, "new"))).toBe(false);
});

test.each(["sub", "pipe"])("Neither writing nor appending to %j is tried", async (path) => {
  const { files } = hostileProject();
  await expect(files.write(path, "x")).rejects.toThrow("it is");
  await expect(files.append(path, "x")).rejects.toThrow("it is");
});

test("The modes of files that are written again stay", async () => {
  const { files } = hostileProject();
  chmodSync(join(files.root, "a.txt"), 0o755);
  await files.write("a.txt", "again");
  execFileSync("test", ["-x", join(files.root, "a.txt")]);
});

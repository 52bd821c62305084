import { createHash, randomUUID } from "node:crypto";
import { closeSync, constants, fstatSync, openSync, readdirSync, readSync, statSync } from "node:fs";
import { isAbsolute } from "node:path";
import * as Effect from "effect/Effect";
import type { SandduneError } from "../../errors.ts";
import type { OpenDirectory } from "../../process/openDirectory.ts";
import { foldPath } from "../foldPath.ts";
import { git } from "../git.ts";
import { fromText } from "../output.ts";
import { bareDirectories, listTree, type TreeFile } from "./bareInTree.ts";
import { isArming, looksBare } from "./bareNames.ts";

/** The files that decide which programs git runs in a bare repository, by their paths in it. */
interface ArmingFile {
  readonly content: Buffer;
  readonly isExecutable: boolean;
}
type ArmingFiles = ReadonlyMap<string, ArmingFile>;

/** Far larger than any configuration that a person writes. */
const MAX_BYTES = 1024 * 1024;
const MAX_DEPTH = 3;

/** Equal only for directories at the same path with the same arming files. */
const identityOf = (path: string, files: ArmingFiles): string => {
  const hash = createHash("sha256").update(path);
  for (const [name, { content, isExecutable }] of [...files].sort(([a], [b]) => (a < b ? -1 : 1))) {
    hash.update(`\0${name}\0${isExecutable}\0${content.length}\0`).update(content);
  }
  return `bare ${hash.digest("hex")}`;
};

/** Follows links, as git does. */
const readPlainFile = (path: Buffer): ArmingFile => {
  const descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const status = fstatSync(descriptor);
    if (!status.isFile() || status.size > MAX_BYTES) throw new Error("no file that a person wrote");
    const content = Buffer.alloc(status.size);
    const length = readSync(descriptor, content);
    return { content: content.subarray(0, length), isExecutable: (status.mode & 0o111) !== 0 };
  } finally {
    closeSync(descriptor);
  }
};

const bytesOf = (name: string): Buffer => Buffer.from(name, "latin1");
const within = (directory: Buffer, name: string): Buffer =>
  Buffer.concat([directory, Buffer.from("/"), bytesOf(name)]);

/** Throws if files cannot be compared: neither file nor directory, too deep or too large. */
function* filesAt(path: Buffer, name: string, depth = 0): Generator<readonly [string, ArmingFile]> {
  // Checked before it is opened, because opening a device can have effects.
  const status = statSync(path);
  if (status.isFile()) yield [name, readPlainFile(path)];
  else if (!status.isDirectory() || depth > MAX_DEPTH) throw new Error("no set of hooks");
  else {
    for (const inner of readdirSync(path, "latin1")) {
      yield* filesAt(within(path, inner), `${name}/${inner}`, depth + 1);
    }
  }
}

function* armingFilesIn(directory: Buffer): Generator<readonly [string, ArmingFile]> {
  for (const name of readdirSync(directory, "latin1")) {
    if (isArming(foldPath(name))) yield* filesAt(within(directory, name), name);
  }
}

const readArmingFiles = (directory: OpenDirectory): ArmingFiles => {
  const files = new Map(armingFilesIn(directory.path));
  const [, pointer] = [...files].find(([name]) => foldPath(name) === "commondir") ?? [];
  if (pointer === undefined) return files;
  const commonDirectory = pointer.content.toString("latin1").trimEnd();
  const place = isAbsolute(commonDirectory)
    ? bytesOf(commonDirectory)
    : within(directory.path, commonDirectory);
  for (const [path, file] of armingFilesIn(place)) files.set(`commondir/${path}`, file);
  return files;
};

/** The identity of the bare repository at `path`; `undefined` if git would not treat the directory as one. */
export const bareIdentityOf = (directory: OpenDirectory, path: string): string | undefined => {
  const names = readdirSync(directory.path, "latin1");
  const folded = new Set(names.map((name) => foldPath(bytesOf(name).toString("utf8"))));
  if (!looksBare(folded)) return undefined;
  try {
    return identityOf(path, readArmingFiles(directory));
  } catch {
    // It cannot be compared, so it equals no other.
    return `bare ${randomUUID()}`;
  }
};

/** Reads blobs with one git process. */
const readBlobs = Effect.fnUntraced(function* (
  cwd: string,
  objects: readonly string[],
): Effect.fn.Return<ReadonlyMap<string, Buffer>, SandduneError> {
  const blobs = new Map<string, Buffer>();
  if (objects.length === 0) return blobs;
  const stdin = `${objects.join("\n")}\n`;
  const { stdout } = yield* git(["cat-file", "--batch=%(objectsize)"], { cwd, stdin, encoding: "latin1" });
  let offset = 0;
  for (const object of objects) {
    const start = stdout.indexOf("\n", offset) + 1;
    const end = start + Number(stdout.slice(offset, start));
    blobs.set(object, bytesOf(stdout.slice(start, end)));
    offset = end + 1;
  }
  return blobs;
});

const isRegular = (mode: string): boolean => mode.startsWith("100");

/** The bare repositories of a tree with their arming files, except those with links. */
const withArmingFiles = (tree: readonly TreeFile[]) =>
  [...bareDirectories(tree.map(({ path }) => path)).values()]
    .map((directory) => ({
      directory,
      arming: tree
        .filter(({ path }) => path.startsWith(`${directory}/`))
        .map((file) => ({ ...file, path: file.path.slice(directory.length + 1) }))
        .filter(({ path }) => isArming(foldPath(path.replace(/\/.*/s, "")))),
    }))
    .filter(({ arming }) => arming.every(({ mode }) => isRegular(mode)));

/** The identities that the bare repositories of a commit have once it is checked out. */
export const bareIdentitiesIn = Effect.fnUntraced(function* (
  cwd: string,
  commit: string,
): Effect.fn.Return<ReadonlySet<string>, SandduneError> {
  const found = withArmingFiles(yield* listTree(cwd, commit));
  const objects = new Set(found.flatMap(({ arming }) => arming.map(({ object }) => object)));
  const blobs = yield* readBlobs(cwd, [...objects]);
  return new Set(
    found.map(({ directory, arming }) => {
      const files = arming.map(({ path, mode, object }) => {
        const content = blobs.get(object) ?? Buffer.alloc(0);
        return [path, { content, isExecutable: mode === "100755" }] as const;
      });
      return identityOf(fromText(directory), new Map(files));
    }),
  );
});

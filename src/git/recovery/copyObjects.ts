import { existsSync, lstatSync } from "node:fs";
import { mkdir, readdir, rm } from "node:fs/promises";
import { basename, join } from "node:path";
import { ImportRefusedError } from "../../errors.ts";
import { isPlainDirectory } from "../../tools/files/entries.ts";
import { inParallel } from "../../tools/wait/inParallel.ts";
import { copyUntrustedFile } from "../transfer/export/copyUntrustedFile.ts";
import { IMPORT_LIMITS, limitExceeded } from "../transfer/limits.ts";
import { looseObjectSize } from "./looseObjectSize.ts";

const MAX_FILES = 1_000_000;
const MAX_BYTES = 8 * 1024 ** 3;

interface CopiedFile {
  readonly from: string;
  readonly directory: string;
  readonly name: string;
  readonly isPack?: boolean;
}

const looseObjects = async (objects: string, to: string): Promise<CopiedFile[]> => {
  const directories = (await readdir(objects))
    .filter((name) => /^[0-9a-f]{2}$/.test(name))
    .filter((name) => isPlainDirectory(join(objects, name)));
  const files = await Promise.all(
    directories.map(async (directory) =>
      (await readdir(join(objects, directory)))
        .filter((name) => /^(?:[0-9a-f]{38}|[0-9a-f]{62})$/.test(name))
        .map((name) => ({ from: join(objects, directory, name), directory: join(to, directory), name })),
    ),
  );
  return files.flat();
};

/** Packs get new names, so that git finds none of the agent's files beside them. */
const packs = async (objects: string, to: string): Promise<CopiedFile[]> => {
  const from = join(objects, "pack");
  if (!isPlainDirectory(from)) return [];
  return (await readdir(from))
    .filter((name) => name.endsWith(".pack"))
    .map((name, index) => ({
      from: join(from, name),
      directory: join(to, "pack"),
      name: `pack-${index.toString(16).padStart(40, "0")}.pack`,
      isPack: true,
    }));
};

/** Resolves with the size of a loose object. */
const requireBounded = async (path: string): Promise<number> => {
  const size = await looseObjectSize(path);
  if (size > IMPORT_LIMITS.objectBytes) throw limitExceeded("objectBytes", undefined);
  return size;
};

export interface CopiedObjects {
  readonly packPaths: readonly string[];
  /** The unpacked size of all loose objects. */
  readonly looseBytes: number;
  /** Short descriptions of what was not copied. */
  readonly problems: readonly string[];
}

/** Copies loose objects and packs. No indexes, graphs and alternates: the agent could write them. */
export const copyObjects = async (objects: string, to: string): Promise<CopiedObjects> => {
  if (!isPlainDirectory(objects)) {
    return { packPaths: [], looseBytes: 0, problems: ["it has no object store"] };
  }
  const packFiles = await packs(objects, to);
  const files = [...(await looseObjects(objects, to)), ...packFiles];
  const bytes = files.reduce(
    (sum, { from }) => sum + (lstatSync(from, { throwIfNoEntry: false })?.size ?? 0),
    0,
  );
  if (files.length > MAX_FILES || bytes > MAX_BYTES) {
    const problem = `the sandbox git directory has ${files.length} object files of ${bytes} bytes in all, and more than ${MAX_FILES}, or ${MAX_BYTES} bytes, are not copied`;
    throw new ImportRefusedError(problem, undefined);
  }
  for (const directory of new Set(files.map((file) => file.directory)))
    await mkdir(directory, { recursive: true });
  const problems: string[] = [];
  let looseBytes = 0;
  const copy = async (file: CopiedFile): Promise<void> => {
    const path = join(file.directory, file.name);
    await copyUntrustedFile(file.from, path);
    if (file.isPack) return;
    try {
      looseBytes += await requireBounded(path);
    } catch (error) {
      await rm(path);
      throw error;
    }
  };
  await inParallel(files, 16, (file) =>
    copy(file).catch((error: unknown) => {
      if (!(error instanceof ImportRefusedError)) throw error;
      problems.push(
        `the object file ${basename(file.directory)}/${file.name} was left out: ${error.problem}`,
      );
    }),
  );
  const packPaths = packFiles.map(({ directory, name }) => join(directory, name));
  return { packPaths: packPaths.filter((path) => existsSync(path)), looseBytes, problems };
};

import { randomBytes } from "node:crypto";
import { link, rename, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";

/** Writes a file beside its place, and then has it there at once: nobody ever reads half of it. */
const put = async (
  path: string,
  content: string,
  place: (temporaryPath: string) => Promise<void>,
): Promise<void> => {
  const temporaryPath = join(dirname(path), `.${basename(path)}.${randomBytes(6).toString("hex")}`);
  try {
    await writeFile(temporaryPath, content, { flag: "wx" });
    await place(temporaryPath);
  } finally {
    await rm(temporaryPath, { force: true });
  }
};

/** Puts a file in the place of whatever file is there. */
export const replaceFile = (path: string, content: string): Promise<void> =>
  put(path, content, (temporaryPath) => rename(temporaryPath, path));

/** Puts a file where there is none: rejects with EEXIST otherwise. */
export const createFile = (path: string, content: string): Promise<void> =>
  put(path, content, (temporaryPath) => link(temporaryPath, path));

import { randomBytes } from "node:crypto";
import { link, rename, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";

/** Writes a temporary file beside the path and then moves it there: no reader sees half of the content. */
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

/** Writes a file, or replaces it. */
export const replaceFile = (path: string, content: string): Promise<void> =>
  put(path, content, (temporaryPath) => rename(temporaryPath, path));

/** Creates a file. Rejects with EEXIST if the path exists. */
export const createFile = (path: string, content: string): Promise<void> =>
  put(path, content, (temporaryPath) => link(temporaryPath, path));

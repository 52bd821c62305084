import { access, constants, open } from "node:fs/promises";
import { dirname } from "node:path";
import { hasCode } from "./hasCode.ts";

const HEAD_BYTES = 4096;

/** The first bytes of a file; `undefined` if it does not exist. Throws if the path names anything but a file. */
export const headOf = async (file: string): Promise<string | undefined> => {
  try {
    // Opening a pipe would block until something writes to it.
    await using handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK);
    const status = await handle.stat();
    if (status.isDirectory()) throw new Error("it is a directory");
    if (!status.isFile()) throw new Error("there is something that is not a file");
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(HEAD_BYTES));
    return buffer.toString("utf8", 0, bytesRead);
  } catch (error) {
    if (hasCode(error, "ENOENT")) return undefined;
    throw error;
  }
};

/** Throws unless files can be written to the directory, which may have to be created first. */
export const checkDirectory = async (directory: string): Promise<void> => {
  try {
    // Only a directory has an entry `.`.
    await access(`${directory}/.`, constants.W_OK | constants.X_OK);
  } catch (error) {
    const parent = dirname(directory);
    if (!hasCode(error, "ENOENT") || parent === directory) throw error;
    await checkDirectory(parent);
  }
};

import { access, constants, open } from "node:fs/promises";
import { dirname } from "node:path";
import { hasCode } from "./hasCode.ts";

const HEAD_BYTES = 4096;

/** How the file begins; `undefined` if there is none. Throws if there is anything else than a file. */
export const headOf = async (file: string): Promise<string | undefined> => {
  try {
    // Not blocking: a pipe would be waited for before it could be seen that it is one.
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

/** Throws unless files can be put into the directory, or it can be made where it is missing. */
export const checkDirectory = async (directory: string): Promise<void> => {
  try {
    // The dot is there only in a directory.
    await access(`${directory}/.`, constants.W_OK | constants.X_OK);
  } catch (error) {
    const parent = dirname(directory);
    if (!hasCode(error, "ENOENT") || parent === directory) throw error;
    await checkDirectory(parent);
  }
};

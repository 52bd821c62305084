import { type Dirent, readdirSync } from "node:fs";
import { hasCode } from "./hasCode.ts";

/** Lists a directory; nothing if there is none, or if it is closed to this user: then what is in it is another user's. */
export const readableEntries = (directory: string): Dirent[] => {
  try {
    return readdirSync(directory, { withFileTypes: true });
  } catch (error) {
    if (hasCode(error, "ENOENT", "EACCES")) return [];
    throw error;
  }
};

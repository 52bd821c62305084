import type { Dirent } from "node:fs";
import { listAtMost } from "../../tools/files/listAtMost.ts";

/** A walk of this process blocks it: of more entries than these it costs more than to start `find`. */
const MAX_WALKED = 1000;

/** An entry below a checkout. Paths are `latin1`. */
export interface WalkedEntry {
  readonly entry: Dirent;
  /** As `find .` prints it. */
  readonly path: string;
  readonly hostPath: Buffer;
}

/**
 * Calls `visit` for each entry of a small checkout but those at its top that are named, and what is in them. Follows no link in the
 * checkout, unless a process exchanges a directory for one meanwhile: a caller may believe the names, and must not change what they
 * lead to. Throws if the checkout is too large, or if anything cannot be read.
 */
export const walkFew = (
  checkoutPath: string,
  except: readonly string[],
  visit: (walked: WalkedEntry) => void,
): void => {
  const top = Buffer.from(checkoutPath).toString("latin1");
  let left = MAX_WALKED;
  const places = ["."];
  for (const place of places) {
    const entries = listAtMost(Buffer.from(`${top}/${place}`, "latin1"), left);
    left -= entries.length;
    for (const entry of entries) {
      if (place === "." && except.includes(entry.name)) continue;
      const path = `${place}/${entry.name}`;
      visit({ entry, path, hostPath: Buffer.from(`${top}/${path}`, "latin1") });
      if (entry.isDirectory()) places.push(path);
    }
  }
};

/** A named pipe in the place of a file that git reads in any directory. */
export const isPipe = ({ entry }: WalkedEntry): boolean =>
  entry.isFIFO() && (entry.name === ".gitignore" || entry.name === ".gitattributes");

import { lstatSync, readFileSync } from "node:fs";
import { atHostFile } from "../../errors/hostFile.ts";
import { HostFileError } from "../../errors.ts";
import { parseJson } from "../../tools/json/parseJson.ts";

/** Longer than any line that a run writes. */
const MAX_BYTES = 256 * 1024 * 1024;

/**
 * The valid lines of a file, in order; `undefined` if there is no file. Incomplete lines, as after a crash, are left
 * out. Links are not followed: they may lead to a file that never ends.
 */
export const readJsonLines = <T>(path: string, check: (value: unknown) => T | undefined): T[] | undefined => {
  const status = lstatSync(path, { throwIfNoEntry: false });
  if (!status?.isFile()) return undefined;
  if (status.size > MAX_BYTES) throw new HostFileError("EFBIG", path, { cause: undefined });
  return atHostFile(path, () => readFileSync(path, "utf8"))
    .split("\n")
    .map((line) => (line === "" ? undefined : check(parseJson(line))))
    .filter((value) => value !== undefined);
};

import { constants } from "node:fs";
import { lstat, open, realpath, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { isInside } from "../../tools/isInside.ts";
import { MAX_REPORT_BYTES } from "./report.ts";

/** Why there is no report. The message is a sentence. */
export class ReportFileProblem extends Error {}

const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? String(error);

/** The real path of a report. Links are followed, but not out of the allowed directories. */
const realPlace = async (path: string, roots: readonly string[]): Promise<string | undefined> => {
  const directory = await realpath(dirname(path)).catch(() => undefined);
  if (directory === undefined) return undefined;
  if (!roots.some((root) => isInside(root, directory))) {
    throw new ReportFileProblem(`The directory of the report ${path} is a link to a directory outside.`);
  }
  return join(directory, basename(path));
};

/** Removes an old report, so that a report that is found later is new. */
export const removeReport = async (path: string, roots: readonly string[]): Promise<void> => {
  const place = await realPlace(path, roots);
  if (place === undefined) return;
  try {
    await rm(place, { force: true });
  } catch (error) {
    throw new ReportFileProblem(
      `An old report cannot be removed: ${path} (${codeOf(error)}). Remove it, or name another file in \`report\`.`,
    );
  }
};

/** The text of a report. Only a regular file of a limited size is read. */
export const readReport = async (path: string, roots: readonly string[]): Promise<string> => {
  const place = await realPlace(path, roots);
  const found = place === undefined ? undefined : await lstat(place).catch(() => undefined);
  if (place === undefined || found === undefined) throw new ReportFileProblem("It wrote no report.");
  if (!found.isFile()) throw new ReportFileProblem(`Its report is not a file: ${path}.`);
  // It may have been replaced since: it is checked again once it is open.
  const file = await open(place, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const stat = await file.stat();
    if (!stat.isFile()) throw new ReportFileProblem(`Its report is not a file: ${path}.`);
    if (stat.size > MAX_REPORT_BYTES) {
      throw new ReportFileProblem(
        `Its report has ${stat.size} bytes, more than the limit of ${MAX_REPORT_BYTES}: split the suite, or let it print less.`,
      );
    }
    const buffer = Buffer.alloc(stat.size);
    const { bytesRead } = await file.read(buffer, 0, stat.size, 0);
    return buffer.toString("utf8", 0, bytesRead);
  } finally {
    await file.close();
  }
};

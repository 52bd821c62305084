import { relative } from "node:path";

/** A path relative to the current directory, if it is below it. */
export const shownPath = (path: string): string => {
  const fromHere = relative(process.cwd(), path);
  return fromHere.startsWith("..") ? path : fromHere;
};

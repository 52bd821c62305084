import { relative } from "node:path";

/** A path as short as it can be opened from here. */
export const shownPath = (path: string): string => {
  const fromHere = relative(process.cwd(), path);
  return fromHere.startsWith("..") ? path : fromHere;
};

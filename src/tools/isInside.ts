import { isAbsolute, relative, sep } from "node:path";

/** Whether a path is a directory itself, or below it. Links are not followed. */
export const isInside = (directory: string, path: string): boolean => {
  const way = relative(directory, path);
  return way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way);
};

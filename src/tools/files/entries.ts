import { lstatSync, statSync } from "node:fs";
import { orUndefined } from "../orUndefined.ts";

/** Whether a path names anything, a broken link included. */
export const entryExists = (path: string | Buffer): boolean =>
  lstatSync(path, { throwIfNoEntry: false }) !== undefined;

/** Whether a path names a file, and not a link to one. */
export const isPlainFile = (path: string): boolean =>
  lstatSync(path, { throwIfNoEntry: false })?.isFile() ?? false;

/** Whether a path names a directory, and not a link to one. */
export const isPlainDirectory = (path: string): boolean =>
  lstatSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;

/** Whether a path leads to a directory that this user can find. */
export const isDirectory = (path: string): boolean =>
  orUndefined(() => statSync(path))?.isDirectory() ?? false;

/** Whether a path leads to a file that this user can find. */
export const isFile = (path: string): boolean => orUndefined(() => statSync(path))?.isFile() ?? false;

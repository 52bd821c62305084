import { posix } from "node:path";
import { InvalidOptionsError } from "../errors.ts";

/** Makes a path absolute in the sandbox. */
export const sandboxPath = (directory: string, path: unknown, option = "path"): string => {
  const refuse = (problem: string) => new InvalidOptionsError(option, problem);
  if (typeof path !== "string" || path === "" || path.includes("\0")) {
    throw refuse("must be a path in the sandbox: a non-empty string without NUL");
  }
  if (posix.isAbsolute(path)) return path;
  if (/^\.\.(\/|$)/.test(posix.normalize(path))) {
    throw refuse(
      `${JSON.stringify(path)} leaves the directory of the sandbox. Use an absolute path for the rest of the sandbox.`,
    );
  }
  return `${directory}/${path}`;
};

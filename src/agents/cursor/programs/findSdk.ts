import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";

const npmModules = (): string[] => {
  const args = ["root", "--global"];
  try {
    return [execFileSync("npm", args, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim()];
  } catch {
    return [];
  }
};

/** The directories that may hold globally installed packages. npm is slow, and is asked last. */
const globalModules = function* (): Generator<string> {
  yield* (process.env["NODE_PATH"] ?? "").split(delimiter).filter(Boolean);
  yield join(dirname(process.execPath), "../lib/node_modules");
  yield* npmModules();
};

const isPackage = (directory: string): boolean => existsSync(join(directory, "package.json"));

/** The directory of `@cursor/sdk`. */
export const findSdk = (): string | undefined => {
  const named = process.env["CURSOR_SDK"];
  if (named && isPackage(named)) return named;
  for (const modules of globalModules()) {
    const directory = join(modules, "@cursor/sdk");
    if (isPackage(directory)) return directory;
  }
  return undefined;
};

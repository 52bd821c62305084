import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";

/** Yarn 1 and its successors share a name, and little else. */
export type PackageManagerName = "npm" | "pnpm" | "yarnClassic" | "yarn" | "bun";

/** The lock file that a package manager writes itself comes first. */
const LOCK_FILES: Readonly<Record<PackageManagerName, readonly string[]>> = {
  npm: ["package-lock.json", "npm-shrinkwrap.json"],
  pnpm: ["pnpm-lock.yaml"],
  yarnClassic: ["yarn.lock"],
  yarn: ["yarn.lock"],
  bun: ["bun.lock", "bun.lockb"],
};

const NAMES = Object.keys(LOCK_FILES) as PackageManagerName[];

export const lockFilesOf = (name: PackageManagerName): readonly string[] => LOCK_FILES[name];

/** `package.json` holds anything that its author wrote. */
export interface PackageJson {
  readonly name?: unknown;
  readonly type?: unknown;
  readonly packageManager?: unknown;
  readonly workspaces?: unknown;
  readonly dependencies?: unknown;
  readonly devDependencies?: unknown;
}

const MAX_BYTES = 16 * 1024 * 1024;

/** The text of a file, empty if it is unreadable or not an ordinary file: reading a FIFO would block. */
const textOf = (path: string): string => {
  try {
    const status = statSync(path);
    return status.isFile() && status.size <= MAX_BYTES ? readFileSync(path, "utf8") : "";
  } catch {
    return "";
  }
};

/** Empty where there is no valid one: the package manager reports that itself. */
export const readPackageJson = (directory: string): PackageJson => {
  try {
    return JSON.parse(textOf(join(directory, "package.json"))) ?? {};
  } catch {
    return {};
  }
};

/** From `pnpm@10.1.0` in `package.json`, or `yarn/1.22.22 npm/? node/v22.1.0` in the environment. */
const named = (text: unknown): PackageManagerName | undefined => {
  const [, name, major] = (typeof text === "string" && /^([a-z]+)[@/](\d+)?/.exec(text)) || [];
  if (name === "yarn" && major === "1") return "yarnClassic";
  return NAMES.find((known) => known === name);
};

const byLockFile = (directory: string): PackageManagerName | undefined => {
  const found = NAMES.find((name) => LOCK_FILES[name].some((file) => existsSync(join(directory, file))));
  if (found !== "yarnClassic") return found;
  return textOf(join(directory, "yarn.lock")).includes("# yarn lockfile v1") ? "yarnClassic" : "yarn";
};

/** The package manager that the files of a directory tell of. */
export const packageManagerIn = (directory: string): PackageManagerName | undefined =>
  named(readPackageJson(directory).packageManager) ?? byLockFile(directory);

/** The package manager that started this process, and npm if none did. */
export const startingPackageManager = (
  userAgent = process.env["npm_config_user_agent"],
): PackageManagerName => named(userAgent) ?? "npm";

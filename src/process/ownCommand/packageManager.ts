import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { PACKAGE_NAME } from "../../options/packageName.ts";
import { parseObject } from "../../tools/json/parseJson.ts";

/** Yarn 1 and its successors share a name, and little else. */
export type PackageManagerName = "npm" | "pnpm" | "yarnClassic" | "yarn" | "bun";

interface PackageManager {
  /** The one that it writes itself comes first. */
  readonly lockFiles: readonly string[];
  /** How it starts `sanddune` in a project that has it installed. */
  readonly installed: string;
  /** How it starts `sanddune` elsewhere. */
  readonly fetched: string;
}

export const packageManagers: Readonly<Record<PackageManagerName, PackageManager>> = {
  npm: {
    lockFiles: ["package-lock.json", "npm-shrinkwrap.json"],
    installed: "npx sanddune",
    fetched: `npx ${PACKAGE_NAME}`,
  },
  pnpm: {
    lockFiles: ["pnpm-lock.yaml"],
    installed: "pnpm exec sanddune",
    fetched: `pnpm dlx ${PACKAGE_NAME}`,
  },
  // Yarn 1 runs installed programs only.
  yarnClassic: { lockFiles: ["yarn.lock"], installed: "yarn sanddune", fetched: `npx ${PACKAGE_NAME}` },
  yarn: { lockFiles: ["yarn.lock"], installed: "yarn sanddune", fetched: `yarn dlx ${PACKAGE_NAME}` },
  bun: {
    lockFiles: ["bun.lock", "bun.lockb"],
    installed: "bunx sanddune",
    fetched: `bunx ${PACKAGE_NAME}`,
  },
};

const NAMES = Object.keys(packageManagers) as PackageManagerName[];

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
export const readPackageJson = (directory: string): PackageJson =>
  parseObject(textOf(join(directory, "package.json"))) ?? {};

/** From `pnpm@10.1.0` in `package.json`, or `yarn/1.22.22 npm/? node/v22.1.0` in the environment. */
const named = (text: unknown): PackageManagerName | undefined => {
  const [, name, major] = (typeof text === "string" && /^([a-z]+)[@/](\d+)?/.exec(text)) || [];
  if (name === "yarn" && major === "1") return "yarnClassic";
  return NAMES.find((known) => known === name);
};

const byLockFile = (directory: string): PackageManagerName | undefined => {
  const found = NAMES.find((name) =>
    packageManagers[name].lockFiles.some((file) => existsSync(join(directory, file))),
  );
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

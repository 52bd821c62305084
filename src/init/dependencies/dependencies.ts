import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import {
  type PackageJson,
  type PackageManagerName,
  packageManagers,
} from "../../process/ownCommand/packageManager.ts";

/** The packages that a project needs, as far as its files tell. */
export interface Dependencies {
  readonly packageManager: PackageManagerName;
  /** The version of the package manager that `package.json` names. */
  readonly version: string | undefined;
  readonly hasLockFile: boolean;
  /** Where the installed packages are, from the top. None under Plug'n'Play, which has them elsewhere. */
  readonly directories: readonly string[];
}

const NODE_MODULES = "node_modules";
/** Packages of a workspace are seldom deeper. */
const MAX_DEPTH = 3;

/** Packages of a workspace have a `node_modules` each, with what differs from the one at the top. */
const installedDirectories = (top: string, below = "", depth = 0): string[] => {
  const names = readdirSync(join(top, below), { withFileTypes: true }).filter((entry) => entry.isDirectory());
  const own = names.some(({ name }) => name === NODE_MODULES) ? [join(below, NODE_MODULES)] : [];
  if (depth === MAX_DEPTH) return own;
  const others = names.filter(({ name }) => name !== NODE_MODULES && !name.startsWith("."));
  return [...own, ...others.flatMap(({ name }) => installedDirectories(top, join(below, name), depth + 1))];
};

/** Yarn 2 and newer make a `node_modules` only when they are configured to. */
const usesPlugAndPlay = (directory: string, name: PackageManagerName): boolean => {
  const settings = join(directory, ".yarnrc.yml");
  if (name !== "yarn") return false;
  return (
    !existsSync(settings) || !/^nodeLinker:\s*"?(node-modules|pnpm)\b/m.test(readFileSync(settings, "utf8"))
  );
};

const versionIn = ({ packageManager }: PackageJson): string | undefined =>
  typeof packageManager === "string" ? /@(\d+\.\d+\.\d+[\w.-]*)/.exec(packageManager)?.[1] : undefined;

/** `undefined` for a project without `package.json`. */
export const findDependencies = (
  directory: string,
  packageManager: PackageManagerName,
  packageJson: PackageJson,
): Dependencies | undefined => {
  if (!existsSync(join(directory, "package.json"))) return undefined;
  const found = installedDirectories(directory);
  return {
    packageManager,
    version: versionIn(packageJson),
    hasLockFile: packageManagers[packageManager].lockFiles.some((file) => existsSync(join(directory, file))),
    // What is not installed yet will be: the program itself imports sanddune.
    directories: usesPlugAndPlay(directory, packageManager) ? [] : found.length > 0 ? found : [NODE_MODULES],
  };
};

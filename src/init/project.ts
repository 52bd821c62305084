import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { ENV_FILE } from "../options/configDirectory.ts";
import { PACKAGE_NAME } from "../options/packageName.ts";
import {
  type PackageJson,
  type PackageManagerName,
  packageManagerIn,
  readPackageJson,
  startingPackageManager,
} from "../process/ownCommand/packageManager.ts";
import { type Dependencies, findDependencies } from "./dependencies/dependencies.ts";
import { installCommand, installedFiles } from "./packageManager.ts";

/** The repository that a scaffold is made for. */
export interface InitProject {
  /** The top of the main checkout. */
  readonly directory: string;
  readonly configDirectory: string;
  /** Whether `.ts` files in it are modules. */
  readonly isModulePackage: boolean;
  readonly packageManager: PackageManagerName;
  /** `undefined` where there is no package.json. */
  readonly dependencies: Dependencies | undefined;
  /** Whether a program in it can import sanddune. */
  readonly hasSanddune: boolean;
  readonly installCommand: string;
  /** The files that installing sanddune changes, from the top. */
  readonly installedFiles: readonly string[];
  /** Whether git ignores the packages that are installed in it. */
  readonly ignoresPackages: boolean;
  /** Whether there is an env file, which must not be replaced. */
  readonly hasEnvFile: boolean;
}

const canImportSanddune = (directory: string): boolean =>
  createRequire(join(directory, "main.js"))
    .resolve.paths(PACKAGE_NAME)
    ?.some((path) => existsSync(join(path, PACKAGE_NAME, "package.json"))) ?? false;

const names = (dependencies: unknown): boolean =>
  typeof dependencies === "object" && dependencies !== null && PACKAGE_NAME in dependencies;

/** Under Plug'n'Play no directory has it. */
const isPlugged = (directory: string, { dependencies, devDependencies }: PackageJson): boolean =>
  existsSync(join(directory, ".pnp.cjs")) && (names(dependencies) || names(devDependencies));

/** Finds the repository of `cwd`. */
export const findInitProject = async (cwd: string): Promise<InitProject> => {
  // Only now: a command line that asks for help does not wait for Effect to be loaded.
  const [{ openRepository }, { isIgnored }, { runAtBoundary }] = await Promise.all([
    import("../git/repository.ts"),
    import("../git/trackedFile.ts"),
    import("../boundary/boundary.ts"),
  ]);
  const { configDirectory } = await runAtBoundary(openRepository(resolve(cwd)));
  const directory = dirname(configDirectory);
  const packageJson = readPackageJson(directory);
  const packageManager = packageManagerIn(directory) ?? startingPackageManager();
  const hasSanddune = canImportSanddune(directory) || isPlugged(directory, packageJson);
  return {
    directory,
    configDirectory,
    isModulePackage: packageJson.type === "module",
    packageManager,
    dependencies: findDependencies(directory, packageManager, packageJson),
    hasSanddune,
    installCommand: installCommand(packageManager, directory, packageJson),
    installedFiles: installedFiles(packageManager, directory, hasSanddune),
    ignoresPackages: await runAtBoundary(isIgnored(directory, "node_modules/")),
    hasEnvFile: existsSync(join(directory, ENV_FILE)),
  };
};

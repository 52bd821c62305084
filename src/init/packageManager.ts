import { existsSync } from "node:fs";
import { join } from "node:path";
import { PACKAGE_NAME } from "../options/packageName.ts";
import {
  lockFilesOf,
  type PackageJson,
  type PackageManagerName,
} from "../process/ownCommand/packageManager.ts";

interface PackageManager {
  /** Installs sanddune into a project. */
  readonly install: string;
  /** At the top of a workspace some require a flag that says that this is meant. */
  readonly workspace?: {
    readonly install: string;
    isTop(directory: string, packageJson: PackageJson): boolean;
  };
  /** Runs a TypeScript file where Node itself cannot. */
  readonly runTypeScript: string;
}

export const packageManagers: Readonly<Record<PackageManagerName, PackageManager>> = {
  npm: { install: `npm install --save-dev ${PACKAGE_NAME}`, runTypeScript: "npx tsx" },
  pnpm: {
    install: `pnpm add --save-dev ${PACKAGE_NAME}`,
    workspace: {
      install: `pnpm add --save-dev --workspace-root ${PACKAGE_NAME}`,
      isTop: (directory) => existsSync(join(directory, "pnpm-workspace.yaml")),
    },
    runTypeScript: "pnpm dlx tsx",
  },
  yarnClassic: {
    install: `yarn add --dev ${PACKAGE_NAME}`,
    workspace: {
      install: `yarn add --dev --ignore-workspace-root-check ${PACKAGE_NAME}`,
      isTop: (_, { workspaces }) => workspaces !== undefined,
    },
    // Yarn 1 has no `dlx`.
    runTypeScript: "npx tsx",
  },
  yarn: { install: `yarn add --dev ${PACKAGE_NAME}`, runTypeScript: "yarn dlx tsx" },
  bun: { install: `bun add --dev ${PACKAGE_NAME}`, runTypeScript: "bun" },
};

/** The command that installs sanddune there. */
export const installCommand = (
  name: PackageManagerName,
  directory: string,
  packageJson: PackageJson,
): string => {
  const { install, workspace } = packageManagers[name];
  return workspace?.isTop(directory, packageJson) ? workspace.install : install;
};

/** The files that installing sanddune there changes or makes. A project without a lock file does not want one. */
export const installedFiles = (
  name: PackageManagerName,
  directory: string,
  hasSanddune: boolean,
): string[] => {
  const isThere = (file: string): boolean => existsSync(join(directory, file));
  if (isThere("package.json")) return ["package.json", ...lockFilesOf(name).filter(isThere)];
  // Where it is installed without that, it is installed elsewhere.
  return hasSanddune ? [] : ["package.json", ...lockFilesOf(name).slice(0, 1)];
};

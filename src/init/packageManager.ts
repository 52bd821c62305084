import { existsSync } from "node:fs";
import { join } from "node:path";
import { PACKAGE_NAME } from "../options/packageName.ts";
import {
  type PackageJson,
  type PackageManagerName,
  packageManagers,
} from "../process/ownCommand/packageManager.ts";

/** How a package manager installs packages. */
interface Installer {
  /** Installs sanddune into a project. */
  readonly install: string;
  /** At the top of a workspace some require a flag that says that this is meant. */
  readonly workspace?: {
    readonly install: string;
    isTop(directory: string, packageJson: PackageJson): boolean;
  };
  /** Runs a TypeScript file where Node itself cannot. */
  readonly runTypeScript: string;
  /** Installs exactly what the lock file names. */
  readonly locked: string;
  /** For a project without a lock file. It leaves none behind, which would be an uncommitted change. */
  readonly unlocked: string;
  /** Lines of a Dockerfile that install the package manager, of the version that the project names. */
  dockerfile(version: string | undefined): readonly string[];
}

export const installers: Readonly<Record<PackageManagerName, Installer>> = {
  npm: {
    install: `npm install --save-dev ${PACKAGE_NAME}`,
    runTypeScript: "npx tsx",
    locked: "npm ci --no-audit --no-fund",
    unlocked: "npm install --no-package-lock --no-audit --no-fund",
    // Every image with Node has it.
    dockerfile: () => [],
  },
  pnpm: {
    install: `pnpm add --save-dev ${PACKAGE_NAME}`,
    workspace: {
      install: `pnpm add --save-dev --workspace-root ${PACKAGE_NAME}`,
      isTop: (directory) => existsSync(join(directory, "pnpm-workspace.yaml")),
    },
    runTypeScript: "pnpm dlx tsx",
    locked: "pnpm install --frozen-lockfile",
    unlocked: "pnpm install --no-lockfile",
    dockerfile: (version = "latest") => [`RUN npm install --global pnpm@${version}`],
  },
  yarnClassic: {
    install: `yarn add --dev ${PACKAGE_NAME}`,
    workspace: {
      install: `yarn add --dev --ignore-workspace-root-check ${PACKAGE_NAME}`,
      isTop: (_, { workspaces }) => workspaces !== undefined,
    },
    // Yarn 1 has no `dlx`.
    runTypeScript: "npx tsx",
    locked: "yarn install --frozen-lockfile",
    unlocked: "yarn install --no-lockfile",
    // Node's own images have Yarn 1.
    dockerfile: (version = "1.22.22") => [
      `RUN command -v yarn >/dev/null || npm install --global yarn@${version}`,
    ],
  },
  yarn: {
    install: `yarn add --dev ${PACKAGE_NAME}`,
    runTypeScript: "yarn dlx tsx",
    locked: "yarn install --immutable",
    unlocked: "yarn install --no-immutable",
    // In the place of Yarn 1, which Node's own images have.
    dockerfile: (version = "4") => [`RUN npm install --global --force @yarnpkg/cli-dist@${version}`],
  },
  bun: {
    install: `bun add --dev ${PACKAGE_NAME}`,
    runTypeScript: "bun",
    locked: "bun install --frozen-lockfile",
    unlocked: "bun install --no-save",
    dockerfile: (version = "1") => [`RUN npm install --global bun@${version}`],
  },
};

/** The command that installs sanddune there. */
export const installCommand = (
  name: PackageManagerName,
  directory: string,
  packageJson: PackageJson,
): string => {
  const { install, workspace } = installers[name];
  return workspace?.isTop(directory, packageJson) ? workspace.install : install;
};

/** The files that installing sanddune there changes or makes. A project without a lock file does not want one. */
export const installedFiles = (
  name: PackageManagerName,
  directory: string,
  hasSanddune: boolean,
): string[] => {
  const isThere = (file: string): boolean => existsSync(join(directory, file));
  if (isThere("package.json")) return ["package.json", ...packageManagers[name].lockFiles.filter(isThere)];
  // Where it is installed without that, it is installed elsewhere.
  return hasSanddune ? [] : ["package.json", ...packageManagers[name].lockFiles.slice(0, 1)];
};

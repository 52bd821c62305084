import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** What package.json says, as far as init wants to know; whoever wrote it may have written anything. */
export interface PackageJson {
  readonly type?: unknown;
  readonly packageManager?: unknown;
  readonly workspaces?: unknown;
}

interface PackageManager {
  /** What it writes itself comes first. */
  readonly lockFiles: readonly string[];
  /** Installs sanddune into a project. */
  readonly install: string;
  /** At the top of a workspace some want to hear that this is meant. */
  readonly workspace?: {
    readonly install: string;
    isTop(directory: string, packageJson: PackageJson): boolean;
  };
  /** Starts `sanddune` once it is installed. */
  readonly sanddune: string;
  /** Runs a TypeScript file where Node itself cannot. */
  readonly runTypeScript: string;
}

/** Its successors have another format, no such objection, and no such flag. */
const isOfYarn1 = (lockFile: string): boolean =>
  existsSync(lockFile) && readFileSync(lockFile, "utf8").includes("# yarn lockfile v1");

export const packageManagers = {
  npm: {
    lockFiles: ["package-lock.json", "npm-shrinkwrap.json"],
    install: "npm install --save-dev sanddune",
    sanddune: "npx sanddune",
    runTypeScript: "npx tsx",
  },
  pnpm: {
    lockFiles: ["pnpm-lock.yaml"],
    install: "pnpm add --save-dev sanddune",
    workspace: {
      install: "pnpm add --save-dev --workspace-root sanddune",
      isTop: (directory) => existsSync(join(directory, "pnpm-workspace.yaml")),
    },
    sanddune: "pnpm exec sanddune",
    runTypeScript: "pnpm dlx tsx",
  },
  yarn: {
    lockFiles: ["yarn.lock"],
    install: "yarn add --dev sanddune",
    workspace: {
      install: "yarn add --dev --ignore-workspace-root-check sanddune",
      isTop: (directory, { workspaces }) =>
        workspaces !== undefined && isOfYarn1(join(directory, "yarn.lock")),
    },
    sanddune: "yarn run sanddune",
    runTypeScript: "yarn dlx tsx",
  },
  bun: {
    lockFiles: ["bun.lock", "bun.lockb"],
    install: "bun add --dev sanddune",
    sanddune: "bunx sanddune",
    runTypeScript: "bun",
  },
} as const satisfies Readonly<Record<string, PackageManager>>;

export type PackageManagerName = keyof typeof packageManagers;

const NAMES = Object.keys(packageManagers) as PackageManagerName[];

const named = (text: unknown, separator: string): PackageManagerName | undefined =>
  NAMES.find((name) => typeof text === "string" && text.startsWith(`${name}${separator}`));

/** Which package manager a project uses: it says so itself, has its lock file, or was told by who started us. */
export const findPackageManager = (
  directory: string,
  packageJson: PackageJson,
  userAgent: string | undefined,
): PackageManagerName =>
  named(packageJson.packageManager, "@") ??
  NAMES.find((name) =>
    packageManagers[name].lockFiles.some((lockFile) => existsSync(join(directory, lockFile))),
  ) ??
  named(userAgent, "/") ??
  "npm";

/** The command that installs sanddune there. */
export const installCommand = (
  name: PackageManagerName,
  directory: string,
  packageJson: PackageJson,
): string => {
  const { install, workspace }: PackageManager = packageManagers[name];
  return workspace?.isTop(directory, packageJson) ? workspace.install : install;
};

/** The files that installing sanddune there changes or makes. A project without a lock file does not want one. */
export const installedFiles = (
  name: PackageManagerName,
  directory: string,
  hasSanddune: boolean,
): string[] => {
  const { lockFiles }: PackageManager = packageManagers[name];
  const isThere = (file: string): boolean => existsSync(join(directory, file));
  if (isThere("package.json")) return ["package.json", ...lockFiles.filter(isThere)];
  // Where it is installed without that, it is installed elsewhere.
  return hasSanddune ? [] : ["package.json", ...lockFiles.slice(0, 1)];
};

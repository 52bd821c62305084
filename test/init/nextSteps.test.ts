import { expect, it } from "vitest";
import { nextSteps } from "../../src/init/nextSteps.ts";
import type { PackageManagerName } from "../../src/process/ownCommand/packageManager.ts";

/** The command that starts the program, in a project with packages in these directories. */
const startCommand = (
  packageManager: PackageManagerName,
  directories: readonly string[],
  nodeVersion: string,
) =>
  nextSteps({
    project: {
      directory: "/project",
      configDirectory: "/project/.sanddune",
      isModulePackage: false,
      packageManager,
      dependencies: { packageManager, version: undefined, hasLockFile: true, directories },
      hasSanddune: true,
      installCommand: "",
      installedFiles: ["package.json"],
      ignoresPackages: true,
      hasEnvFile: false,
    },
    answers: {
      ...{ agent: "command", agentCommand: "sh ./agent.sh", sandbox: "bubblewrap" },
      ...{ template: "blank", backlog: "none", base: "node", imageName: undefined },
    },
    scaffold: {},
    isBuilt: false,
    cwd: "/project",
    nodeVersion,
  }).at(-1)?.command;

it.each([
  ["npm", ["node_modules"], "22.18.0", "node"],
  ["npm", ["node_modules"], "24.0.0", "node"],
  ["npm", ["node_modules"], "22.17.0", "npx tsx"],
  ["pnpm", ["node_modules"], "20.19.0", "pnpm dlx tsx"],
  ["yarnClassic", ["node_modules"], "20.19.0", "npx tsx"],
  ["yarn", ["node_modules"], "22.18.0", "node"],
  ["yarn", [], "22.18.0", "yarn dlx tsx"],
] as const)(
  "the program is started with %s and packages in %j on Node %s by: %s",
  (manager, directories, node, start) => {
    expect(startCommand(manager, directories, node)).toBe(`${start} .sanddune/main.mts`);
  },
);

import { expect, it } from "vitest";
import { findDependencies } from "../../../src/init/dependencies/dependencies.ts";
import { packageManagerIn, readPackageJson } from "../../../src/process/ownCommand/packageManager.ts";
import { temporaryDirectory } from "../../helpers/repository/repository.ts";
import { writeFiles } from "../../helpers/repository/writeFiles.ts";

const dependenciesOf = (files: Readonly<Record<string, string>>) => {
  const directory = temporaryDirectory();
  writeFiles(directory, files);
  return findDependencies(directory, packageManagerIn(directory) ?? "npm", readPackageJson(directory));
};

it("has none to install without package.json, whatever else there is", () => {
  expect(dependenciesOf({ "package-lock.json": "{}", "node_modules/a/index.js": "" })).toBeUndefined();
});

it("knows the package manager with its version, the lock file, and where packages are installed", () => {
  const packageJson = JSON.stringify({ packageManager: "pnpm@10.1.0+sha512.abc" });
  expect(dependenciesOf({ "package.json": packageJson, "pnpm-lock.yaml": "" })).toEqual({
    packageManager: "pnpm",
    version: "10.1.0",
    hasLockFile: true,
    directories: ["node_modules"],
  });
});

it("knows where the packages of a workspace have theirs, and looks into no installed package", () => {
  const { directories } =
    dependenciesOf({
      "package.json": "{}",
      "node_modules/a/node_modules/b/index.js": "",
      "packages/one/node_modules/c/index.js": "",
      "packages/two/package.json": "{}",
      ".cache/x/node_modules/d/index.js": "",
    }) ?? {};
  expect(directories).toEqual(["node_modules", "packages/one/node_modules"]);
});

it.each([
  [undefined, []],
  ["nodeLinker: pnp\n", []],
  ["enableGlobalCache: true\nnodeLinker: node-modules\n", ["node_modules"]],
])("under Yarn 2 and newer there is a node_modules only if one is configured: %j", (settings, expected) => {
  const files = { "package.json": "{}", "yarn.lock": "__metadata:\n" };
  const found = dependenciesOf(settings === undefined ? files : { ...files, ".yarnrc.yml": settings });
  expect(found?.directories).toEqual(expected);
});

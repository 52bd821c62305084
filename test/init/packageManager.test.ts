import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { findPackageManager, packageManagers } from "../../src/init/packageManager.ts";
import { temporaryDirectory } from "../helpers/repository.ts";

const directoryWith = (...files: string[]): string => {
  const directory = temporaryDirectory();
  for (const file of files) writeFileSync(join(directory, file), "");
  return directory;
};

const lockFiles = Object.entries(packageManagers).flatMap(([name, manager]) =>
  manager.lockFiles.map((lockFile) => [lockFile, name] as const),
);

it.each(lockFiles)("knows a package manager by its lock file %s", (lockFile, name) => {
  expect(findPackageManager(directoryWith(lockFile), {}, "other/1.0")).toBe(name);
});

it.each(Object.keys(packageManagers))("believes package.json more than a lock file: %s", (name) => {
  const directory = directoryWith(name === "npm" ? "yarn.lock" : "package-lock.json");
  expect(findPackageManager(directory, { packageManager: `${name}@10.1.0` }, undefined)).toBe(name);
});

it.each(Object.keys(packageManagers))("believes a lock file more than who started it: %s", (name) => {
  expect(findPackageManager(directoryWith(), {}, `${name}/10.1.0 node/v22.1.0 linux x64`)).toBe(name);
  expect(findPackageManager(directoryWith("bun.lock"), {}, `${name}/10.1.0 node/v22.1.0`)).toBe("bun");
});

it("takes npm where nothing says anything that it understands", () => {
  for (const packageManager of [undefined, 7, "pnpmish@1", "toString@1"])
    expect(findPackageManager(directoryWith(), { packageManager }, undefined)).toBe("npm");
});

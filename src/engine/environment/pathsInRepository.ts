import { relative } from "node:path";
import type { EnvironmentPlan } from "./plan.ts";

/**
 * Where an environment lies in the repository: what is there grades the next run. A folder, or its files if that folder is
 * the whole repository; nothing if it lies elsewhere.
 */
export const environmentPathsIn = (
  topLevel: string,
  { directory, files }: Pick<EnvironmentPlan, "directory" | "files">,
): readonly string[] => {
  const folder = relative(topLevel, directory);
  if (folder === "") return files;
  return folder === ".." || folder.startsWith("../") ? [] : [folder];
};

import { CONFIG_DIRECTORY_NAME } from "../../options/configDirectory.ts";

/** Directories of a suite that are never shared: they may contain keys. */
const DIRECTORIES: readonly string[] = [CONFIG_DIRECTORY_NAME, ".git"];

const ENV_EXAMPLES: readonly string[] = [".env.example", ".env.sample", ".env.template"];

export const isPrivateDirectory = (name: string): boolean => DIRECTORIES.includes(name.toLowerCase());

/** Files that usually contain keys. */
export const isPrivateFile = (name: string): boolean => {
  const lower = name.toLowerCase();
  if (lower === ".npmrc" || lower === ".env") return true;
  return lower.startsWith(".env.") && !ENV_EXAMPLES.includes(lower);
};

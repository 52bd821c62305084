import { CONFIG_DIRECTORY_NAME } from "../../options/configDirectory.ts";

/** Directories of a suite that nobody else gets to see: keys may stand in there. */
const DIRECTORIES: readonly string[] = [CONFIG_DIRECTORY_NAME, ".git"];

const ENV_EXAMPLES: readonly string[] = [".env.example", ".env.sample", ".env.template"];

export const isPrivateDirectory = (name: string): boolean => DIRECTORIES.includes(name.toLowerCase());

/** Files that hold keys by custom. */
export const isPrivateFile = (name: string): boolean => {
  const lower = name.toLowerCase();
  if (lower === ".npmrc" || lower === ".env") return true;
  return lower.startsWith(".env.") && !ENV_EXAMPLES.includes(lower);
};

/** `--cwd` of every command that works on a repository. */
export const CWD_FLAG = [
  "--cwd <dir>",
  "the repository, or a directory in it (default: the current directory)",
] as const;

/** `--cwd` of the commands for scenarios. */
export const SUITE_CWD_FLAG = [
  "--cwd <dir>",
  "where the suite is looked for (default: the current directory)",
] as const;

const FLAGS: Readonly<Record<string, string>> = {
  branchStrategy: "--branch, --merge-to-head, --head",
  "branchStrategy.branch": "--branch",
  "branchStrategy.from": "--from",
  copyToWorktree: "--copy",
  promptArgs: "--prompt-arg",
  idleTimeoutSeconds: "--idle-timeout",
};

const kebabCase = (name: string): string => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

/** The flag that sets an option of `run()`; what has none, a file for instance, keeps its name. */
export const flagOf = (option: string): string =>
  FLAGS[option] ?? (option.includes(".") ? option : `--${kebabCase(option)}`);

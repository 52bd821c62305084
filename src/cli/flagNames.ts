const FLAGS: Readonly<Record<string, string>> = {
  branchStrategy: "--branch, --merge-to-head, --head",
  "branchStrategy.branch": "--branch",
  "branchStrategy.from": "--from",
  copyToWorktree: "--copy",
  idleTimeoutSeconds: "--idle-timeout",
};

const kebabCase = (name: string): string => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

/** The flag that sets an option of `run()`. */
export const flagOf = (option: string): string => FLAGS[option] ?? `--${kebabCase(option)}`;

import { installers } from "../packageManager.ts";
import type { SandboxChoiceName } from "../sandboxChoices.ts";
import type { Dependencies } from "./dependencies.ts";

/** Ten minutes: installing hundreds of packages over a slow line takes longer than the minute that hooks have by default. */
const TIME_LIMIT = "600_000";

const comment = (...lines: readonly string[]): string =>
  `/**\n${lines.map((line) => ` * ${line}\n`).join("")} */`;

const WORKTREE = "A worktree has the files that git tracks, and no others.";

const installing = (command: string, ...reasons: readonly string[]): string =>
  `${comment(`${WORKTREE} This installs the dependencies in each sandbox before the agent starts.`, ...reasons)}
const setup = {
  hooks: { sandbox: { onSandboxReady: [{ command: ${JSON.stringify(command)}, timeoutMs: ${TIME_LIMIT} }] } },
} as const;`;

const copying = (directories: readonly string[]): string =>
  `${comment(
    `${WORKTREE} This copies the dependencies that you have installed into each.`,
    "They fit, because bubblewrap runs the programs of this machine, and copying needs neither a network nor a registry.",
    "Install them anew when you have switched to a commit that needs others.",
  )}
const setup = {
  copyToWorktree: ${JSON.stringify(directories).replaceAll(",", ", ")},
  timeouts: { copyToWorktreeMs: ${TIME_LIMIT} },
} as const;`;

const NOTHING = `${comment(`${WORKTREE} If your tests need more, install it in each sandbox, or copy it.`)}
const setup = {
  // hooks: { sandbox: { onSandboxReady: [{ command: "make deps", timeoutMs: ${TIME_LIMIT} }] } },
  // copyToWorktree: [".venv"],
};`;

/**
 * The statement of a scaffold's program that gets the dependencies to where the agent works. A container has a platform of
 * its own, where the packages of the host need not run: they are installed in it. bubblewrap has the host's, and often no
 * network: they are copied.
 */
export const setupStatement = (
  sandbox: SandboxChoiceName,
  dependencies: Dependencies | undefined,
): string => {
  if (dependencies === undefined) return NOTHING;
  const { packageManager, hasLockFile, directories } = dependencies;
  const command = installers[packageManager][hasLockFile ? "locked" : "unlocked"];
  if (sandbox !== "bubblewrap") {
    return installing(
      command,
      "It does so there and not on this machine: packages differ between platforms, and run scripts of their own.",
      "For a private registry, put the token that your .npmrc or .yarnrc.yml names into .sanddune/.env.",
    );
  }
  if (directories.length > 0) return copying(directories);
  return installing(
    command,
    "Under Plug'n'Play there is no node_modules to copy. Packages that are not in .yarn/cache need bubblewrap({ network: true }).",
  );
};

/** Lines of a Dockerfile for what the setup calls. */
export const packageManagerLines = (dependencies: Dependencies | undefined): readonly string[] =>
  dependencies === undefined ? [] : installers[dependencies.packageManager].dockerfile(dependencies.version);

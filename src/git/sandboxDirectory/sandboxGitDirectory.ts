import { copyFileSync, existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import * as Effect from "effect/Effect";
import type { SandduneError } from "../../errors.ts";
import { CONFIG_DIRECTORY_NAME } from "../../options/configDirectory.ts";
import type { SandboxMount } from "../../sandboxes/contract.ts";
import { renderConfig } from "../configFile.ts";
import type { HostState } from "../hostState.ts";
import { type NestedRepositories, nestedPaths } from "../nestedRepositories/findNestedRepositories.ts";
import { type OverlayCheckout, takeStartIndex } from "../overlay/overlayCheckout.ts";
import { branchRef } from "../refs.ts";
import type { Repository } from "../repository.ts";
import { exclusions, KNOWN_COMMITS_FILE, packingFile } from "../transfer/export/packScript.ts";
import { hostExcludes } from "./hostExcludes.ts";
import { hasAlternates, objectStores } from "./objectStores.ts";
import { sandboxConfig } from "./sandboxConfig.ts";
import { submoduleMounts } from "./submoduleMounts.ts";

/** Paths in a bind-mount sandbox. */
export const SANDBOX_REPOSITORY_PATH = "/sanddune/repo";
export const SANDBOX_GIT_DIRECTORY = "/sanddune/git";
export const SANDBOX_HOME = "/sanddune/home";
/** The script that packs new commits. Read-only, so that no agent can change it. */
export const SANDBOX_PACKING_FILE = "/sanddune/pack";
const SANDBOX_OBJECTS = "/sanddune/objects";

/** The directory of the host in which the agent works: a worktree, or the user's checkout with the `head` strategy. */
export interface Checkout {
  readonly path: string;
  readonly gitDirectory: string;
  /** `undefined` when HEAD is detached. */
  readonly branch: string | undefined;
  readonly sha: string;
  /** Where the files and the index are, if the worktree is empty. */
  readonly overlay?: OverlayCheckout | undefined;
}

export interface SandboxGitSetup {
  /** A directory of the run on the host. */
  readonly filesDirectory: string;
  readonly repository: Repository;
  readonly checkout: Checkout;
  readonly host: HostState;
  /** Commits that the sandbox need not export. */
  readonly knownCommits: readonly string[];
  /** The user's nested repositories in the checkout. */
  readonly nestedRepositories: NestedRepositories;
  /** The git directory is a copy of another sandbox's. An agent has written it, so nothing is written through its paths. */
  readonly isCopied?: boolean;
}

/** The directories of a run on the host that its sandbox uses. */
export interface SandboxDirectories {
  /** The sandbox's own git directory. */
  readonly git: string;
  readonly home: string;
  /** An empty directory and an empty file, mounted over what the sandbox must not see. */
  readonly empty: string;
  readonly emptyFile: string;
  /** Mounted over the `.git` file of a worktree. */
  readonly gitFile: string;
  readonly packingFile: string;
}

export const sandboxDirectories = (filesDirectory: string): SandboxDirectories => ({
  git: join(filesDirectory, "git"),
  home: join(filesDirectory, "home"),
  empty: join(filesDirectory, "empty"),
  emptyFile: join(filesDirectory, "empty-file"),
  gitFile: join(filesDirectory, "git-file"),
  packingFile: join(filesDirectory, "pack"),
});

const copyIfExists = (from: string, to: string): void => {
  if (existsSync(from)) copyFileSync(from, to);
};

/** A copied index knows which files are unchanged; for a new one, git would have to read them all. */
const copyIndex = ({ gitDirectory, overlay }: Checkout, to: string): void => {
  if (overlay !== undefined) {
    takeStartIndex(overlay, join(to, "index"));
    return;
  }
  for (const name of readdirSync(gitDirectory)) {
    if (name === "index" || name.startsWith("sharedindex."))
      copyFileSync(join(gitDirectory, name), join(to, name));
  }
};

/** In a file of its own, the branch can be read without git. */
const writeBranch = (directory: string, branch: string, sha: string): void => {
  const path = join(directory, branchRef(branch));
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `${sha}\n`);
};

const writeKnownCommits = ({ git }: SandboxDirectories, knownCommits: readonly string[]): void => {
  writeFileSync(join(git, KNOWN_COMMITS_FILE), exclusions(knownCommits));
};

const writeGitDirectory = (directories: SandboxDirectories, setup: SandboxGitSetup): void => {
  const { repository, checkout, host, knownCommits } = setup;
  const directory = directories.git;
  for (const name of ["objects/info", "objects/pack", "refs/heads", "refs/tags", "info"]) {
    mkdirSync(join(directory, name), { recursive: true });
  }
  const head = checkout.branch === undefined ? checkout.sha : `ref: ${branchRef(checkout.branch)}`;
  writeFileSync(join(directory, "HEAD"), `${head}\n`);
  writeFileSync(join(directory, "config"), renderConfig(sandboxConfig(host.config)));
  const refs = new Map(host.refs.map(({ name, sha }) => [name, sha]));
  if (checkout.branch !== undefined) refs.set(branchRef(checkout.branch), checkout.sha);
  writeFileSync(join(directory, "packed-refs"), [...refs].map(([name, sha]) => `${sha} ${name}\n`).join(""));
  if (checkout.branch !== undefined) writeBranch(directory, checkout.branch, checkout.sha);
  writeKnownCommits(directories, knownCommits);
  const stores = objectStores(repository.commonDirectory);
  writeFileSync(
    join(directory, "objects/info/alternates"),
    stores.map((_, position) => `${SANDBOX_OBJECTS}/${position}\n`).join(""),
  );
  copyIndex(checkout, directory);
  copyIfExists(join(repository.commonDirectory, "shallow"), join(directory, "shallow"));
  writeFileSync(join(directory, "info/exclude"), hostExcludes(repository, host.config));
  copyIfExists(join(checkout.gitDirectory, "info/sparse-checkout"), join(directory, "info/sparse-checkout"));
};

const objectMounts = (repository: Repository, directories: SandboxDirectories): SandboxMount[] =>
  objectStores(repository.commonDirectory).flatMap((hostPath, position) => {
    const sandboxPath = `${SANDBOX_OBJECTS}/${position}`;
    const store: SandboxMount = { hostPath, sandboxPath, readOnly: true };
    // Its alternates are host paths; the sandbox has a list of its own.
    const hidden: SandboxMount = {
      hostPath: directories.emptyFile,
      sandboxPath: `${sandboxPath}/info/alternates`,
      readOnly: true,
    };
    return hasAlternates(hostPath) ? [store, hidden] : [store];
  });

/** In the user's checkout, the config directory is read-only, and other runs and secrets are hidden. */
const configDirectoryMounts = (checkoutPath: string, directories: SandboxDirectories): SandboxMount[] => {
  const hostPath = join(checkoutPath, CONFIG_DIRECTORY_NAME);
  if (!existsSync(hostPath)) return [];
  const sandboxPath = `${SANDBOX_REPOSITORY_PATH}/${CONFIG_DIRECTORY_NAME}`;
  const hide = (name: string, behind: string): SandboxMount[] =>
    existsSync(join(hostPath, name))
      ? [{ hostPath: behind, sandboxPath: `${sandboxPath}/${name}`, readOnly: true }]
      : [];
  return [
    { hostPath, sandboxPath, readOnly: true },
    ...["worktrees", "runs", "logs"].flatMap((name) => hide(name, directories.empty)),
    ...hide(".env", directories.emptyFile),
  ];
};

/** The user's nested repositories and submodules are read-only, because git on the host trusts them. */
const nestedRepositoryMounts = (checkoutPath: string, nested: NestedRepositories): SandboxMount[] =>
  nestedPaths(nested).map((hostPath) => ({
    hostPath,
    sandboxPath: `${SANDBOX_REPOSITORY_PATH}/${relative(checkoutPath, hostPath)}`,
    readOnly: true,
  }));

/** The mount of the files that the agent works on. */
export const filesMount = ({ path, overlay }: Pick<Checkout, "path" | "overlay">): SandboxMount => {
  const place = { sandboxPath: SANDBOX_REPOSITORY_PATH, readOnly: false };
  if (overlay === undefined) return { hostPath: path, ...place };
  const { lowerPath: hostPath, ...layers } = overlay.layers;
  return { hostPath, ...place, overlay: layers };
};

/** Only the last of several mounts at one path is visible, and some container engines refuse duplicates. */
const lastAtEachPlace = (mounts: readonly SandboxMount[]): SandboxMount[] =>
  mounts.filter(
    ({ sandboxPath }, index) => !mounts.slice(index + 1).some((later) => later.sandboxPath === sandboxPath),
  );

const placeOf = ({ git }: SandboxDirectories) => ({
  gitDirectory: SANDBOX_GIT_DIRECTORY,
  hostGitDirectory: git,
  handle: { worktreePath: SANDBOX_REPOSITORY_PATH },
});

/**
 * Creates a git directory for a bind-mount sandbox, with the host's objects as read-only alternates. The host's `.git`
 * is never mounted: an agent that could write to it could run its hooks and filters on the host.
 */
export const prepareSandboxGitDirectory = Effect.fnUntraced(function* (
  setup: SandboxGitSetup,
): Effect.fn.Return<readonly SandboxMount[], SandduneError> {
  const { repository, checkout } = setup;
  const directories = sandboxDirectories(setup.filesDirectory);
  mkdirSync(directories.home, { recursive: true });
  mkdirSync(directories.empty, { recursive: true });
  writeFileSync(directories.emptyFile, "");
  writeFileSync(directories.gitFile, `gitdir: ${SANDBOX_GIT_DIRECTORY}\n`);
  writeFileSync(directories.packingFile, packingFile(placeOf(directories), checkout.branch));
  if (!setup.isCopied) writeGitDirectory(directories, setup);
  else writeKnownCommits(directories, setup.knownCommits);
  const dotGit = `${SANDBOX_REPOSITORY_PATH}/.git`;
  const isMainCheckout = checkout.gitDirectory === join(checkout.path, ".git");
  return lastAtEachPlace([
    filesMount(checkout),
    ...(checkout.path === repository.topLevel ? configDirectoryMounts(checkout.path, directories) : []),
    { hostPath: directories.git, sandboxPath: SANDBOX_GIT_DIRECTORY, readOnly: false },
    isMainCheckout
      ? { hostPath: directories.git, sandboxPath: dotGit, readOnly: false }
      : { hostPath: directories.gitFile, sandboxPath: dotGit, readOnly: true },
    ...nestedRepositoryMounts(checkout.path, setup.nestedRepositories),
    ...(yield* submoduleMounts({
      checkout,
      sandboxCheckoutPath: SANDBOX_REPOSITORY_PATH,
      hostGitDirectory: directories.git,
      sandboxGitDirectory: isMainCheckout ? dotGit : SANDBOX_GIT_DIRECTORY,
    })),
    ...objectMounts(repository, directories),
    { hostPath: directories.home, sandboxPath: SANDBOX_HOME, readOnly: false },
    { hostPath: directories.packingFile, sandboxPath: SANDBOX_PACKING_FILE, readOnly: true },
  ]);
});

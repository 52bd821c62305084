import { sandduneWords } from "../process/ownCommand/sandduneCommand.ts";
import { SandduneError } from "./base.ts";
import { block, nextCommands, sentences } from "./text.ts";

const MAX_SHOWN = 5;

/** The first of them: an agent can make any number. */
const firstOf = (paths: readonly string[]): string => {
  const shown = paths.slice(0, MAX_SHOWN).map((path) => JSON.stringify(path));
  const others = paths.length - shown.length;
  return others > 0 ? `${shown.join(", ")} and ${others} more` : shown.join(", ");
};

/** Where the work is that an import refused. */
export interface KeptWork {
  /** The git directory of the sandbox, on the host. */
  readonly gitDirectory?: string | undefined;
  /** An archive of all files of the sandbox, if it shared none with the host. */
  readonly archivePath?: string | undefined;
  /** A ref in the repository that has the commits: they are sound, but not for the branch. */
  readonly keptRef?: string | undefined;
  /** The run that `sanddune rescue` is to be given. */
  readonly rescueRunId?: string | undefined;
}

/**
 * What came out of the sandbox is not a sound set of commits, or is more than the host accepts. The branch was not
 * moved, and everything is kept.
 */
export class ImportRefusedError extends SandduneError {
  readonly gitDirectory: string | undefined;
  readonly archivePath: string | undefined;
  readonly keptRef: string | undefined;

  constructor(
    readonly problem: string,
    readonly bundlePath: string | undefined,
    readonly output = "",
    kept: KeptWork = {},
  ) {
    const { gitDirectory, archivePath, keptRef, rescueRunId } = kept;
    const commands = [
      keptRef !== undefined && ["git", "log", keptRef],
      keptRef === undefined && rescueRunId !== undefined && sandduneWords("rescue", rescueRunId),
      keptRef === undefined &&
        rescueRunId === undefined &&
        bundlePath !== undefined && ["git", "bundle", "verify", bundlePath],
      archivePath !== undefined && ["tar", "--list", "--file", archivePath],
    ];
    super(
      sentences(
        `The commits of the sandbox were refused: ${problem}.`,
        keptRef && `They are kept as ${keptRef}.`,
        bundlePath && `The bundle is kept at ${bundlePath}.`,
        gitDirectory && `The git directory of the sandbox is kept at ${gitDirectory}.`,
        archivePath && `The files of the sandbox are kept in ${archivePath}.`,
      ) +
        block("git said", output) +
        nextCommands(commands.filter((command) => command !== false)),
    );
    this.gitDirectory = gitDirectory;
    this.archivePath = archivePath;
    this.keptRef = keptRef;
  }

  /** The same refusal, by an import that knows where the work is. */
  keptIn(kept: KeptWork): ImportRefusedError {
    return new ImportRefusedError(this.problem, this.bundlePath, this.output, {
      ...kept,
      keptRef: this.keptRef,
    });
  }
}

/** The branch changed on the host while the agent worked. The agent's commits are kept under `keptRef`. */
export class BranchMovedError extends SandduneError {
  constructor(
    readonly movedBranch: string,
    readonly problem: string,
    readonly keptRef: string,
  ) {
    super(
      `Branch ${movedBranch} ${problem}, so the agent's commits were not put on it. They are kept as ${keptRef}.${nextCommands(
        [
          ["git", "log", `${movedBranch}..${keptRef}`],
          ["git", "merge", keptRef],
        ],
      )}`,
    );
  }
}

/** The agent's branch and the target branch change the same lines. The checkout was not touched. */
export class MergeConflictError extends SandduneError {
  constructor(
    readonly files: readonly string[],
    readonly sourceBranch: string,
    readonly targetBranch: string,
  ) {
    super(
      `Merging ${sourceBranch} into ${targetBranch} conflicts in ${files.map((file) => JSON.stringify(file)).join(", ")}. Your checkout was not touched; the commits are on ${sourceBranch}.${nextCommands([["git", "merge", sourceBranch]])}`,
    );
  }
}

/**
 * The agent has changed the config directory: programs, settings and image definitions, which run on the host or say
 * what does. Such a change is not merged without anybody having seen it. The checkout was not touched.
 */
export class ConfigChangeError extends SandduneError {
  constructor(
    readonly paths: readonly string[],
    readonly sourceBranch: string,
    readonly targetBranch: string,
  ) {
    const range = `${targetBranch}...${sourceBranch}`;
    super(
      `The agent has changed ${firstOf(paths)}. What is there decides what runs on your machine, so ${sourceBranch} was not merged into ${targetBranch}; the commits are on it. Look at the change, then merge it yourself.${nextCommands(
        [
          ["git", "diff", range, "--", ":/.sanddune"],
          ["git", "merge", sourceBranch],
        ],
      )}`,
    );
  }
}

/**
 * The agent's commits hold directories that git takes for bare repositories: `git status` in one of them runs the programs
 * that its configuration names. They are not merged without a person having seen them. The checkout was not touched.
 */
export class EmbeddedRepositoryError extends SandduneError {
  constructor(
    readonly paths: readonly string[],
    readonly sourceBranch: string,
    readonly targetBranch: string,
  ) {
    super(
      `The agent has committed what git takes for a bare repository: ${firstOf(paths)}. The programs that its configuration names would run as soon as you use git in it, so ${sourceBranch} was not merged into ${targetBranch}; the commits are on it. Look at the directory. To merge it yourself, first tell git to ignore such repositories.${nextCommands(
        [
          [
            "git",
            "diff",
            `${targetBranch}...${sourceBranch}`,
            "--",
            ...paths.slice(0, 1).map((path) => `:(top,literal)${path}`),
          ],
          ["git", "config", "--global", "safe.bareRepository", "explicit"],
          ["git", "merge", sourceBranch],
        ],
      )}`,
    );
  }
}

/**
 * The target branch could not be moved to the merged result: uncommitted changes, a rebase, or another agent are in the
 * way. The checkout was not touched.
 */
export class CheckoutInTheWayError extends SandduneError {
  constructor(
    readonly checkoutPath: string,
    readonly sourceBranch: string,
    readonly targetBranch: string,
    readonly problem: string,
    readonly output = "",
  ) {
    super(
      `${targetBranch} could not be moved to the merged result: ${problem}. ${checkoutPath} was not touched; the commits are on ${sourceBranch}.${block("git said", output)}${nextCommands(
        [
          ["git", "-C", checkoutPath, "status"],
          ["git", "-C", checkoutPath, "merge", sourceBranch],
        ],
      )}`,
    );
  }
}

/**
 * A merge stopped while git moved the checkout to the merged result: the disk was full, git was killed, or an earlier
 * run was. The checkout was put back as it was before the merge, unless `isHalfMerged` says otherwise.
 */
export class MergeInterruptedError extends SandduneError {
  readonly problem: string;
  /** The checkout is neither as it was before the merge nor merged. */
  readonly isHalfMerged: boolean;
  /** The operating system's word for it (ENOSPC, EDQUOT, ...), if it refused to write. */
  readonly errorCode: string | undefined;
  /** Files that are not as they were before the merge. */
  readonly paths: readonly string[];
  /** Locks of git that are in the way. */
  readonly lockPaths: readonly string[];

  constructor(
    readonly checkoutPath: string,
    readonly sourceBranch: string,
    readonly targetBranch: string,
    details: {
      readonly problem: string;
      readonly errorCode?: string | undefined;
      /** Unless it was put back, or not touched. */
      readonly isHalfMerged: boolean;
      readonly paths?: readonly string[];
      readonly lockPaths?: readonly string[];
      readonly output?: string;
    },
  ) {
    const { problem, errorCode, isHalfMerged, paths = [], lockPaths = [], output = "" } = details;
    const inCheckout = ["git", "-C", checkoutPath];
    super(
      sentences(
        `${targetBranch} could not be moved to the merged result: ${problem}.`,
        isHalfMerged ? `${checkoutPath} is half merged.` : `${checkoutPath} is as it was before the merge.`,
        paths.length > 0 && `Not as before: ${firstOf(paths)}.`,
        `The commits are on ${sourceBranch}.`,
        (errorCode === "ENOSPC" || errorCode === "EDQUOT") && "Free some disk space first.",
        lockPaths.length > 0 && "Remove the lock only if no other git is at work there.",
      ) +
        block("git said", output) +
        nextCommands([
          ...lockPaths.map((path) => ["rm", path]),
          [...inCheckout, "status"],
          ...(isHalfMerged ? [[...inCheckout, "stash", "push", "--include-untracked"]] : []),
          [...inCheckout, "merge", sourceBranch],
        ]),
    );
    this.problem = problem;
    this.isHalfMerged = isHalfMerged;
    this.errorCode = errorCode;
    this.paths = paths;
    this.lockPaths = lockPaths;
  }
}

import { sandduneWords } from "../process/ownCommand/sandduneCommand.ts";
import { SandduneError } from "./base.ts";
import { block, nextCommands, sentences } from "./text.ts";

const MAX_SHOWN = 5;

/** The first paths only, because an agent can make any number. */
const firstOf = (paths: readonly string[]): string => {
  const shown = paths.slice(0, MAX_SHOWN).map((path) => JSON.stringify(path));
  const others = paths.length - shown.length;
  return others > 0 ? `${shown.join(", ")} and ${others} more` : shown.join(", ");
};

/** Where the work of a refused import is kept. */
export interface KeptWork {
  /** The git directory of the sandbox, on the host. */
  readonly gitDirectory?: string | undefined;
  /** An archive of all files of the sandbox, if it shared none with the host. */
  readonly archivePath?: string | undefined;
  /** A ref with the commits, if they are valid but cannot be put on the branch. */
  readonly keptRef?: string | undefined;
  /** The run to name to `sanddune rescue`. */
  readonly rescueRunId?: string | undefined;
}

/**
 * The commits from the sandbox are damaged or incomplete, or exceed the limits of an import. The branch was not moved, and
 * everything is kept.
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
        block("Output of git", output) +
        nextCommands(commands.filter((command) => command !== false)),
    );
    this.gitDirectory = gitDirectory;
    this.archivePath = archivePath;
    this.keptRef = keptRef;
  }

  /** The same error with the place where the work is kept. */
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
      `Branch ${movedBranch} ${problem}, so the agent's commits were not added to it. They are kept as ${keptRef}.${nextCommands(
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
 * The agent has changed the config directory, which decides what runs on the host. A person has to review such a change
 * before it is merged. The checkout was not touched.
 */
export class ConfigChangeError extends SandduneError {
  constructor(
    readonly paths: readonly string[],
    readonly sourceBranch: string,
    readonly targetBranch: string,
  ) {
    const range = `${targetBranch}...${sourceBranch}`;
    super(
      `The agent has changed ${firstOf(paths)}. Files in .sanddune decide what runs on your machine, so ${sourceBranch} was not merged into ${targetBranch}. The commits are on ${sourceBranch}. Review the change, then merge it yourself.${nextCommands(
        [
          ["git", "diff", range, "--", ":/.sanddune"],
          ["git", "merge", sourceBranch],
        ],
      )}`,
    );
  }
}

/**
 * The agent's commits contain directories that git treats as bare repositories: `git status` in one of them runs the
 * programs that its configuration names. A person has to review them before they are merged. The checkout was not touched.
 */
export class EmbeddedRepositoryError extends SandduneError {
  constructor(
    readonly paths: readonly string[],
    readonly sourceBranch: string,
    readonly targetBranch: string,
  ) {
    super(
      `The agent has committed a directory that git treats as a bare repository: ${firstOf(paths)}. Git would run the programs that its configuration names as soon as you use git in it, so ${sourceBranch} was not merged into ${targetBranch}. The commits are on ${sourceBranch}. Review the directory. To merge it yourself, first configure git to ignore such repositories.${nextCommands(
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
      `${targetBranch} could not be moved to the merged result: ${problem}. ${checkoutPath} was not touched; the commits are on ${sourceBranch}.${block("Output of git", output)}${nextCommands(
        [
          ["git", "-C", checkoutPath, "status"],
          ["git", "-C", checkoutPath, "merge", sourceBranch],
        ],
      )}`,
    );
  }
}

/**
 * A merge stopped while git moved the checkout to the merged result, because the disk was full, or git or an earlier run was
 * killed. The checkout was put back as it was before the merge, unless `isHalfMerged` says otherwise.
 */
export class MergeInterruptedError extends SandduneError {
  readonly problem: string;
  /** The checkout is neither as it was before the merge nor merged. */
  readonly isHalfMerged: boolean;
  /** The error code of the operating system (ENOSPC, EDQUOT, ...), if it refused to write. */
  readonly errorCode: string | undefined;
  /** Files that are not as they were before the merge. */
  readonly paths: readonly string[];
  /** Lock files of git that prevent the merge. */
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
        paths.length > 0 && `Changed: ${firstOf(paths)}.`,
        `The commits are on ${sourceBranch}.`,
        (errorCode === "ENOSPC" || errorCode === "EDQUOT") && "Free some disk space first.",
        lockPaths.length > 0 && "Remove the lock only if no other git process runs there.",
      ) +
        block("Output of git", output) +
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

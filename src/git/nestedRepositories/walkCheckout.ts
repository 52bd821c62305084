import { chmodSync, lstatSync } from "node:fs";
import type * as Effect from "effect/Effect";
import { interruptible } from "../../boundary/interruptible.ts";
import type { SandduneError } from "../../errors.ts";
import { runProcess } from "../../process/runProcess.ts";

/** For `find`: pipes in the place of files that git reads wherever they are. */
export const PIPES = [
  "-type",
  "p",
  "(",
  "-name",
  ".gitignore",
  "-o",
  "-name",
  ".gitattributes",
  ")",
] as const;

/** Names that can make a repository. */
const REPOSITORIES = ["-iname", ".git", "-o", "-iname", "head"] as const;

/** Programs that run with their owner's rights, and devices: with the name tests first, because these look at every file. */
const PRIVILEGED = [
  ...["-o", "-type", "b", "-o", "-type", "c"],
  ...["-o", "!", "-type", "d", "(", "-perm", "-4000", "-o", "-perm", "-2000", ")"],
] as const;

/**
 * Git enters a directory that its owner may not list, and finds a repository in it by name. Git does not track the
 * permissions of directories, so nothing is lost. Never true, so that the other tests follow.
 */
const LISTABLE = [
  ...["(", "-type", "d", "!", "-perm", "-0500"],
  ...["-execdir", "chmod", "u+rx", "{}", ";", "-type", "f", ")", "-o"],
] as const;

/** The same for the checkout itself, which `find` has to list before it can do anything. */
const makeListable = (checkoutPath: string): void => {
  const { mode } = lstatSync(checkoutPath);
  if ((mode & 0o500) !== 0o500) chmodSync(checkoutPath, (mode & 0o7777) | 0o500);
};

/** Some ten thousand paths: far more than a user's checkout has. */
const CAPTURE_BYTES = 8 * 1024 * 1024;
/** Some directories could not be read. */
const PARTLY_DENIED = 1;

export interface CheckoutWalk {
  readonly checkoutPath: string;
  /** The config directory's own worktrees are in the checkout: the walk does not concern them. */
  readonly skipsConfigDirectory: boolean;
  /** An agent has worked here: also look for set-uid programs and devices, and make every directory listable. */
  readonly isAfterAgent: boolean;
}

export interface Walked {
  /** Relative, in `latin1`: names can hold any bytes. */
  readonly paths: readonly string[];
  /** Not if there was more than can be held, or `find` came to an early end. */
  readonly isComplete: boolean;
}

/** Lists what may be a danger in a checkout, in one walk. */
export const walkCheckout = ({
  checkoutPath,
  skipsConfigDirectory,
  isAfterAgent,
}: CheckoutWalk): Effect.Effect<Walked, SandduneError> =>
  interruptible(async (signal) => {
    if (isAfterAgent) makeListable(checkoutPath);
    const { stdout, stdoutTruncated, exitCode } = await runProcess({
      program: "find",
      // Relative, because -path takes a pattern, and the checkout's own path can hold anything.
      args: [
        ...[".", "-mindepth", "1", "(", "-path", "./.git"],
        ...(skipsConfigDirectory ? ["-o", "-path", "./.sanddune"] : []),
        ...[")", "-prune", "-o"],
        ...(isAfterAgent ? LISTABLE : []),
        ...["(", ...REPOSITORIES, "-o", ...PIPES, ...(isAfterAgent ? PRIVILEGED : []), ")", "-print0"],
      ],
      cwd: checkoutPath,
      encoding: "latin1",
      captureBytes: CAPTURE_BYTES,
      signal,
    });
    // What is left of too much is its end, which may begin in the midst of a path.
    const paths = stdout.split("\0").slice(stdoutTruncated ? 1 : 0);
    return {
      paths: paths.filter((path) => path !== ""),
      isComplete: !stdoutTruncated && exitCode <= PARTLY_DENIED,
    };
  });

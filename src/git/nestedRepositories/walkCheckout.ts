import { chmodSync, lstatSync } from "node:fs";
import type * as Effect from "effect/Effect";
import { interruptible } from "../../boundary/interruptible.ts";
import type { SandduneError } from "../../errors.ts";
import { CONFIG_DIRECTORY_NAME } from "../../options/configDirectory.ts";
import { runProcess } from "../../process/runProcess.ts";
import { orUndefined } from "../../tools/orUndefined.ts";
import { isPipe, type WalkedEntry, walkFew } from "./walkFew.ts";

/** Arguments for `find`: pipes in place of files that git reads in any directory. */
export const PIPES = [
  ...["-type", "p", "(", "-name", ".gitignore"],
  ...["-o", "-name", ".gitattributes", ")"],
] as const;

/** Entries by which git recognises a repository. */
const REPOSITORIES = ["-iname", ".git", "-o", "-iname", "head"] as const;

/** Set-uid programs and devices. After the tests by name, because these tests need the status of each file. */
const PRIVILEGED = [
  ...["-o", "-type", "b", "-o", "-type", "c"],
  ...["-o", "!", "-type", "d", "(", "-perm", "-4000", "-o", "-perm", "-2000", ")"],
] as const;

/**
 * Makes unreadable directories listable: git enters them too, and finds a repository by name. Git does not track
 * permissions of directories, so nothing is lost. Never matches, so that the other tests follow.
 */
const LISTABLE = [
  ...["(", "-type", "d", "!", "-perm", "-0500"],
  ...["-execdir", "chmod", "u+rx", "{}", ";", "-type", "f", ")", "-o"],
] as const;

/** The same for the checkout itself, which `find` lists first. */
const makeListable = (checkoutPath: string): void => {
  const { mode } = lstatSync(checkoutPath);
  if ((mode & 0o500) !== 0o500) chmodSync(checkoutPath, (mode & 0o7777) | 0o500);
};

/** Tens of thousands of paths: far more than a user's checkout has. */
const CAPTURE_BYTES = 8 * 1024 * 1024;
/** Some directories could not be read. */
const PARTLY_DENIED = 1;

export interface CheckoutWalk {
  readonly checkoutPath: string;
  /** Leaves out the config directory, which holds worktrees. */
  readonly skipsConfigDirectory: boolean;
  /** Also lists set-uid programs and devices, and makes every directory listable. */
  readonly isAfterAgent: boolean;
}

export interface Walked {
  /** Relative, in `latin1`, which preserves any bytes. */
  readonly paths: readonly string[];
  /** `false` if the output was truncated, or `find` failed. */
  readonly isComplete: boolean;
}

const LISTABLE_MODE = 0o500;
const SET_ID = 0o6000;

const isRepository = ({ entry }: WalkedEntry): boolean => /^(\.git|head)$/i.test(entry.name);

/** Whether an entry has rights that an agent must not leave. Throws at a directory that only `find` makes listable. */
const isPrivileged = ({ entry, hostPath }: WalkedEntry): boolean => {
  if (entry.isBlockDevice() || entry.isCharacterDevice()) return true;
  const { mode } = lstatSync(hostPath);
  if (!entry.isDirectory()) return (mode & SET_ID) !== 0;
  if ((mode & LISTABLE_MODE) !== LISTABLE_MODE) throw new RangeError("a directory is not listable");
  return false;
};

/** Does the same as `find` for a small checkout that has nothing to repair; throws for any other. */
const walkSmall = ({ checkoutPath, skipsConfigDirectory, isAfterAgent }: CheckoutWalk): Walked => {
  const paths: string[] = [];
  walkFew(checkoutPath, [".git", ...(skipsConfigDirectory ? [CONFIG_DIRECTORY_NAME] : [])], (walked) => {
    const isDangerous = isAfterAgent && isPrivileged(walked);
    if (isDangerous || isRepository(walked) || isPipe(walked)) paths.push(walked.path);
  });
  return { paths, isComplete: true };
};

/** Lists dangerous entries of a checkout in one walk. */
export const walkCheckout = (walk: CheckoutWalk): Effect.Effect<Walked, SandduneError> =>
  interruptible(async (signal) => {
    const { checkoutPath, skipsConfigDirectory, isAfterAgent } = walk;
    if (isAfterAgent) makeListable(checkoutPath);
    const walked = orUndefined(() => walkSmall(walk));
    if (walked !== undefined) return walked;
    const { stdout, stdoutTruncated, exitCode } = await runProcess({
      program: "find",
      // Relative, because -path takes a pattern, and the path of the checkout may contain special characters.
      args: [
        ...[".", "-mindepth", "1", "(", "-path", "./.git"],
        ...(skipsConfigDirectory ? ["-o", "-path", `./${CONFIG_DIRECTORY_NAME}`] : []),
        ...[")", "-prune", "-o"],
        ...(isAfterAgent ? LISTABLE : []),
        ...["(", ...REPOSITORIES, "-o", ...PIPES, ...(isAfterAgent ? PRIVILEGED : []), ")", "-print0"],
      ],
      cwd: checkoutPath,
      encoding: "latin1",
      captureBytes: CAPTURE_BYTES,
      signal,
    });
    // Truncated output keeps its end, which may start inside a path.
    const paths = stdout.split("\0").slice(stdoutTruncated ? 1 : 0);
    return {
      paths: paths.filter((path) => path !== ""),
      isComplete: !stdoutTruncated && exitCode <= PARTLY_DENIED,
    };
  });

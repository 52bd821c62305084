import type * as Effect from "effect/Effect";
import type { SandduneError } from "../../errors.ts";
import { interruptible } from "../../process/interruptible.ts";
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

const CAPTURE_BYTES = 256 * 1024 * 1024;

export interface CheckoutWalk {
  readonly checkoutPath: string;
  /** The config directory's own worktrees are in the checkout: the walk does not concern them. */
  readonly skipsConfigDirectory: boolean;
  /** The agent is gone: look at what only matters then, and make every directory of its user's listable. */
  readonly isLast: boolean;
}

/** Lists what may be a danger in a checkout, in one walk, as relative paths in `latin1`: names can hold any bytes. */
export const walkCheckout = ({
  checkoutPath,
  skipsConfigDirectory,
  isLast,
}: CheckoutWalk): Effect.Effect<string[], SandduneError> =>
  interruptible(
    async (signal) => {
      const { stdout } = await runProcess({
        program: "find",
        // Relative, because -path takes a pattern, and the checkout's own path can hold anything.
        args: [
          ...[".", "-mindepth", "1", "(", "-path", "./.git"],
          ...(skipsConfigDirectory ? ["-o", "-path", "./.sanddune"] : []),
          ...[")", "-prune", "-o"],
          ...(isLast ? LISTABLE : []),
          ...["(", ...REPOSITORIES, "-o", ...PIPES, ...(isLast ? PRIVILEGED : []), ")", "-print0"],
        ],
        cwd: checkoutPath,
        encoding: "latin1",
        captureBytes: CAPTURE_BYTES,
        signal,
      });
      return stdout.split("\0").filter((path) => path !== "");
    },
    (reason) => reason as SandduneError,
  );

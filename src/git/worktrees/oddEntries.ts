import * as Effect from "effect/Effect";
import { interruptible } from "../../boundary/interruptible.ts";
import type { SandduneError } from "../../errors.ts";
import { runProcess } from "../../process/runProcess.ts";
import { orUndefined } from "../../tools/orUndefined.ts";
import { PIPES } from "../nestedRepositories/walkCheckout.ts";
import { isPipe, walkFew } from "../nestedRepositories/walkFew.ts";
import { nulSeparated } from "../output.ts";

/** Entries that matter to git in any directory of a checkout. */
export interface OddEntries {
  /** A named pipe replaces a file that git reads, for which git would wait for ever. */
  readonly hasPipes: boolean;
  /** There may be a `.git` below the top: a submodule that is initialised has one. */
  readonly mayHaveRepositories: boolean;
}

/** Looks at a small checkout. Throws if it is too large, or if anything cannot be read. */
const walk = (checkoutPath: string, except?: string): OddEntries => {
  let hasPipes = false;
  let mayHaveRepositories = false;
  walkFew(checkoutPath, [".git", ...(except === undefined ? [] : [except])], (walked) => {
    hasPipes ||= isPipe(walked);
    mayHaveRepositories ||= walked.entry.name.toLowerCase() === ".git";
  });
  return { hasPipes, mayHaveRepositories };
};

const find = (checkoutPath: string, except?: string): Effect.Effect<OddEntries, SandduneError> =>
  interruptible((signal) =>
    runProcess({
      program: "find",
      args: [
        ...[".", "-path", "./.git", "-prune", "-o"],
        ...(except === undefined ? [] : ["-path", `./${except}`, "-prune", "-o"]),
        ...["(", ...PIPES, "-o", "-iname", ".git", ")", "-print0"],
      ],
      cwd: checkoutPath,
      signal,
    }),
  ).pipe(
    Effect.map(({ stdout, stdoutTruncated, exitCode }) => {
      const paths = nulSeparated(stdout);
      return {
        hasPipes: stdoutTruncated || paths.some((path) => !/\/\.git$/i.test(path)),
        // Directories that cannot be listed may hold one.
        mayHaveRepositories: exitCode !== 0 || paths.some((path) => /\/\.git$/i.test(path)),
      };
    }),
  );

/** `except`, a name at the top, is not searched. */
export const findOddEntries = (
  checkoutPath: string,
  except?: string,
): Effect.Effect<OddEntries, SandduneError> =>
  Effect.suspend(() => {
    const walked = orUndefined(() => walk(checkoutPath, except));
    return walked === undefined ? find(checkoutPath, except) : Effect.succeed(walked);
  });

/** Whether a named pipe replaces a file that git reads, for which git would wait for ever. `except` is not searched. */
export const hasPipes = (checkoutPath: string, except?: string): Effect.Effect<boolean, SandduneError> =>
  Effect.map(findOddEntries(checkoutPath, except), (found) => found.hasPipes);

import { createReadStream } from "node:fs";
import * as Effect from "effect/Effect";
import type { SandduneError } from "../../errors.ts";
import type { GitFile } from "../diffTree.ts";
import { git, gitText } from "../git.ts";
import { asText } from "../output.ts";
import { openFile, PrefixComparison } from "./checkoutFile.ts";

/** Names that `hash-object --stdin-paths` would unquote or split. */
const isOddName = (path: string): boolean => /^"|[\r\n]/.test(path);

const NO_CONVERSION_CHECK = ["-c", "core.safecrlf=false"] as const;

const readFile = (checkoutPath: string, path: string) =>
  createReadStream("", { fd: openFile(checkoutPath, path) });

/** The object names that regular files of a checkout would have if they were added. */
export const hashFiles = Effect.fnUntraced(function* (
  cwd: string,
  paths: readonly string[],
): Effect.fn.Return<Map<string, string>, SandduneError> {
  const hashes = new Map<string, string>();
  const plain = paths.filter((path) => !isOddName(path));
  if (plain.length > 0) {
    const stdin = Buffer.from(`${plain.join("\n")}\n`, "latin1");
    const { stdout } = yield* git([...NO_CONVERSION_CHECK, "hash-object", "--stdin-paths"], { cwd, stdin });
    stdout.split("\n").forEach((sha, index) => {
      const path = plain[index];
      if (path !== undefined) hashes.set(path, sha);
    });
  }
  for (const path of paths.filter(isOddName)) {
    const args = [...NO_CONVERSION_CHECK, "hash-object", "--stdin", `--path=${asText(path)}`];
    hashes.set(path, yield* gitText(args, { cwd, stdin: readFile(cwd, path) }));
  }
  return hashes;
});

/**
 * Whether a regular file of a checkout is the beginning of a version that git was writing when it was killed. Filters
 * are those of the version's commit, which git supports from 2.41 on.
 */
export const isBeginningOf = (
  cwd: string,
  path: string,
  { file, commit }: { readonly file: GitFile; readonly commit: string },
): Effect.Effect<boolean, SandduneError> =>
  Effect.acquireUseRelease(
    Effect.sync(() => new PrefixComparison(cwd, path)),
    (comparison) =>
      git(["cat-file", "--filters", `--path=${asText(path)}`, file.sha], {
        cwd,
        env: { GIT_ATTR_SOURCE: commit },
        onStdoutChunk: (chunk) => comparison.push(chunk),
      }).pipe(Effect.map(() => comparison.isPrefix)),
    (comparison) => Effect.sync(() => comparison.close()),
  );

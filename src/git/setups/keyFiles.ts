import * as Effect from "effect/Effect";
import { HookCacheKeyError, type SandduneError } from "../../errors.ts";
import { git } from "../git.ts";
import { nulSeparated } from "../output.ts";
import type { Repository } from "../repository.ts";

/** A key file, with git's object of its content. */
export interface KeyFile {
  readonly path: string;
  readonly content: string;
  readonly isExecutable: boolean;
}

/** No character in a path has a meaning. */
export const LITERAL = { GIT_LITERAL_PATHSPECS: "1" };

const KINDS: Readonly<Record<string, string>> = {
  "040000": "is a directory: name the files in it",
  "120000": "is a symbolic link: name the file that it leads to",
  "160000": "is a submodule: name files of this repository",
};

/** Without `./` and doubled slashes, as git writes paths. */
const plain = (path: string): string =>
  path
    .split("/")
    .filter((part) => part !== "" && part !== ".")
    .join("/");

/** Looks up the key files of hooks in a commit. Fails with a `HookCacheKeyError` that names the one that cannot be used. */
export const readKeyFiles = Effect.fnUntraced(function* (
  { topLevel, prefix }: Pick<Repository, "topLevel" | "prefix">,
  commit: string,
  items: readonly string[],
): Effect.fn.Return<KeyFile[], SandduneError> {
  const wanted = [...new Set(items)].map((item) => ({ item, path: `${prefix}${plain(item)}` }));
  if (wanted.length === 0) return [];
  const { stdout } = yield* git(
    ["ls-tree", "--full-tree", "-t", "-z", commit, "--", ...wanted.map(({ path }) => path)],
    {
      cwd: topLevel,
      env: LITERAL,
    },
  );
  const entries = new Map(
    nulSeparated(stdout).map((line) => {
      const [mode = "", , object = ""] = line.slice(0, line.indexOf("\t")).split(" ");
      return [line.slice(line.indexOf("\t") + 1), { mode, object }] as const;
    }),
  );
  const files: KeyFile[] = [];
  for (const { item, path } of wanted) {
    const entry = entries.get(path);
    const problem =
      entry === undefined ? `is not a file of the commit ${commit.slice(0, 10)}` : KINDS[entry.mode];
    if (entry === undefined || problem !== undefined)
      return yield* Effect.fail(new HookCacheKeyError(item, problem ?? ""));
    files.push({ path, content: entry.object, isExecutable: entry.mode === "100755" });
  }
  return files;
});

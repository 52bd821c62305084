import type { Artifact } from "../../options/results.ts";
import type { ExecOptions, SandboxHandle } from "../../sandboxes/contract.ts";
import { globMatcher, globRoots } from "../../tools/globs.ts";
import { messageOf } from "../../tools/messageOf.ts";
import { shellQuote } from "../../tools/shellQuote.ts";
import { someOf } from "../../tools/someOf.ts";
import { withTimeLimit } from "../../tools/wait/timeLimit.ts";
import { ArtifactReceiver, MAX_ARTIFACT_BYTES } from "./artifactReceiver.ts";

export const MAX_ARTIFACTS = 1000;
/** A glob that matches more files is too wide. */
const MAX_LISTED = 200_000;
const LAST_WORDS_BYTES = 4096;

/** Links, and files behind links, do not belong to the worktree. */
const listStart = (start: string): string => {
  const names = start === "" ? [] : start.split("/");
  const places = names.map((_, index) => shellQuote(`./${names.slice(0, index + 1).join("/")}`));
  const isLinked = places.map((place) => `[ -L ${place} ]`).join(" || ");
  const find = `find ${places.at(-1) ?? "."} -name .git -prune -o -type f -print 2>/dev/null`;
  return isLinked === "" ? find : `${isLinked} || ${find}`;
};

/**
 * Prints the files that standard input names: for each a line with its index and size, then its content in Base64.
 * Content cannot be mistaken for such a line, which contains spaces.
 */
const PRINT_FILES = `left=${MAX_ARTIFACT_BYTES} index=-1
while IFS= read -r file; do
  index=$((index + 1))
  [ ! -L "./$file" ] && [ -f "./$file" ] || continue
  size=$(stat -c %s -- "./$file" 2>/dev/null || wc -c <"./$file") || continue
  if [ "$size" -gt "$left" ]; then printf 'large %d %d\\n' "$index" "$size"; continue; fi
  left=$((left - size))
  printf 'file %d %d\\n' "$index" "$size"
  [ "$size" -eq 0 ] || head -c "$size" <"./$file" | base64
done`;

/** Runs a command. If `onLine` throws, the command is ended, and this rejects with that error. */
const execLines = async (
  handle: SandboxHandle,
  command: string,
  options: Pick<ExecOptions, "stdin"> & {
    readonly signal: AbortSignal;
    readonly onLine: (line: string) => void;
  },
): Promise<void> => {
  const stop = new AbortController();
  let problem: { readonly reason: unknown } | undefined;
  const onLine = (line: string) => {
    if (problem !== undefined) return;
    try {
      options.onLine(line);
    } catch (reason) {
      problem = { reason };
      stop.abort(reason);
    }
  };
  const signal = AbortSignal.any([options.signal, stop.signal]);
  const captureBytes = LAST_WORDS_BYTES;
  const cwd = handle.worktreePath;
  try {
    await handle.exec(command, { ...options, cwd, signal, onLine, captureBytes });
  } catch (reason) {
    throw problem === undefined ? reason : problem.reason;
  }
  if (problem !== undefined) throw problem.reason;
};

const listFiles = async (
  handle: SandboxHandle,
  globs: readonly string[],
  signal: AbortSignal,
): Promise<string[]> => {
  const matches = globMatcher(globs);
  const found = new Set<string>();
  let listed = 0;
  const onLine = (line: string) => {
    if (++listed > MAX_LISTED) throw new Error(`there are more than ${MAX_LISTED} files to look at`);
    const path = line.replace(/^\.\//, "");
    if (matches(path)) found.add(path);
  };
  await execLines(handle, globRoots(globs).map(listStart).join("\n"), { signal, onLine });
  return [...found].sort();
};

/** The copied files, and a message for each problem. */
export interface TakenArtifacts {
  readonly artifacts: readonly Artifact[];
  readonly problems: readonly string[];
}

/** Copies matching regular files out of the sandbox, bounded in number, size and time. */
export const takeArtifacts = async (
  handle: SandboxHandle,
  globs: readonly string[],
  directory: string,
  timeoutMs: number,
): Promise<TakenArtifacts> => {
  const problems: string[] = [];
  let receiver: ArtifactReceiver | undefined;
  try {
    await withTimeLimit(timeoutMs, undefined, async (signal) => {
      const found = await listFiles(handle, globs, signal);
      const paths = found.slice(0, MAX_ARTIFACTS);
      if (found.length > paths.length)
        problems.push(
          `${found.length - paths.length} artifacts exceed the limit, and were left in the sandbox.`,
        );
      if (paths.length === 0) return;
      const into = new ArtifactReceiver(paths, directory);
      receiver = into;
      const stdin = `${paths.join("\n")}\n`;
      await execLines(handle, PRINT_FILES, { stdin, signal, onLine: (line) => into.line(line) });
    });
  } catch (reason) {
    const problem = messageOf(reason);
    problems.push(`Not all artifacts could be copied: ${problem}`);
  }
  receiver?.end();
  const { artifacts = [], refused = [] } = receiver ?? {};
  if (refused.length > 0) problems.push(`Artifacts were left in the sandbox: ${someOf(refused)}.`);
  return { artifacts, problems };
};

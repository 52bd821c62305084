import { SandboxError } from "../../errors.ts";
import { shellQuote } from "../../tools/shellQuote.ts";
import { isObjectName } from "../objectName.ts";
import { SANDBOX_CHECKPOINT_REF } from "../runRefs.ts";
import { SANDDUNE_IDENTITY } from "../sandboxDirectory/sandboxConfig.ts";
import { repositoryScript, type SandboxRepository } from "../transfer/sandboxRepository.ts";

/** A commit of all files after an action of the agent. */
export interface Checkpoint {
  /** The number of the last action before it; 0 before the first action. */
  readonly number: number;
  readonly sha: string;
}

export interface CheckpointRequest {
  readonly number: number;
  /** The previous checkpoint, or the first commit of the run. */
  readonly parent: string;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}

/** The result of taking a checkpoint. */
export interface TakenCheckpoint {
  /** `undefined` if no file has changed since the previous checkpoint. */
  readonly sha: string | undefined;
  /** Some files are unreadable, too large, or in a nested repository. */
  readonly isIncomplete: boolean;
}

/** Larger untracked files are rarely work: data sets, downloads, core dumps. */
const MAX_UNTRACKED_BYTES = 16 * 1024 * 1024;

const COMMIT = "commit ";
const SAME = "same";
const INCOMPLETE = "incomplete";
const LAST_WORDS_BYTES = 4096;

const IDENTITY = Object.entries(SANDDUNE_IDENTITY)
  .map(([name, value]) => `${name}=${shellQuote(value)}`)
  .join(" ");

/** Commits in the sandbox: git on the host must not read files that an agent may be writing. */
const checkpointScript = (
  sandbox: SandboxRepository,
  { number, parent }: CheckpointRequest,
): string => `${repositoryScript(sandbox)}
export ${IDENTITY}
real="$GIT_DIR/index"
export GIT_INDEX_FILE="$GIT_DIR/sanddune-checkpoint-index"
names="$GIT_INDEX_FILE.names"
problems="$GIT_INDEX_FILE.problems"
clear() { rm -rf "$GIT_INDEX_FILE" "$GIT_INDEX_FILE.lock" "$names" "$problems" "$GIT_DIR/${SANDBOX_CHECKPOINT_REF}.lock"; }
trap clear EXIT
clear
large() {
  git ls-files -z --others --exclude-standard | xargs -0 printf './%s\\0' |
    xargs -0 sh -c 'find "$@" -maxdepth 0 -type f -size +${MAX_UNTRACKED_BYTES}c -print0' sh
}
add() {
  large > "$names" 2>/dev/null
  if [ -s "$names" ]; then
    echo ${INCOMPLETE}
    { printf '.\\0'; xargs -0 printf ':(exclude,literal)%s\\0' < "$names"; } |
      git add --all --ignore-errors --pathspec-from-file=- --pathspec-file-nul 2>"$problems"
  else
    git add --all --ignore-errors 2>"$problems"
  fi && ! grep -q 'embedded git repository' "$problems" || echo ${INCOMPLETE}
  tree=$(git write-tree)
}
cp -p "$real" "$GIT_INDEX_FILE" 2>/dev/null
add 2>/dev/null || { clear; git read-tree ${parent} && add; } || exit 1
if [ "$tree" = "$(git rev-parse --quiet --verify '${parent}^{tree}')" ]; then
  echo ${SAME}
else
  commit=$(git commit-tree -p ${parent} -m 'Checkpoint ${number}' "$tree") &&
    git update-ref --no-deref ${SANDBOX_CHECKPOINT_REF} "$commit" && printf '${COMMIT}%s\\n' "$commit"
fi`;

/**
 * Commits the files in the sandbox, on top of the previous checkpoint. Git on the host must not read files that an
 * agent may be writing.
 */
export const takeCheckpoint = async (
  sandbox: SandboxRepository,
  request: CheckpointRequest,
): Promise<TakenCheckpoint> => {
  const { signal, timeoutMs } = request;
  const { handle } = sandbox;
  const { stdout, stderr, exitCode } = await handle.exec(checkpointScript(sandbox, request), {
    ...{ signal, timeoutMs },
    captureBytes: LAST_WORDS_BYTES,
  });
  const lines = stdout.split("\n");
  const isIncomplete = lines.includes(INCOMPLETE);
  if (exitCode === 0 && lines.includes(SAME)) return { sha: undefined, isIncomplete };
  const sha = lines.find((line) => line.startsWith(COMMIT))?.slice(COMMIT.length);
  if (exitCode !== 0 || sha === undefined || !isObjectName(sha)) {
    throw new SandboxError(handle.name, `git in it made no commit (exit code ${exitCode})`, stderr);
  }
  return { sha, isIncomplete };
};

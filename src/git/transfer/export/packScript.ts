import { shellQuote } from "../../../tools/shellQuote.ts";
import { branchRef } from "../../refs.ts";
import { newExportRefs, SANDBOX_CHECKPOINT_REF } from "../../runRefs.ts";
import { repositoryScript, type SandboxRepository, type ScriptPlace } from "../sandboxRepository.ts";
import { REPORT } from "./exportReport.ts";
import { nameUnreferencedCommits } from "./unreferencedCommits.ts";

export const BUNDLE = "sanddune-export.bundle";
/** Written by the host for scripts that piggyback on commands, whose input is not theirs. */
export const KNOWN_COMMITS_FILE = "sanddune-known-commits";
export const CHECKPOINTS_BUNDLE = "sanddune-checkpoints.bundle";

/** Selects what the script packs. */
export interface PackOrder {
  /** `undefined`: a detached HEAD. */
  readonly sourceBranch: string | undefined;
  /** Removes lock files, which a killed agent leaves. */
  readonly breaksLocks?: boolean;
  /** Leaves out the ref of the checkpoints, which is not the agent's. */
  readonly recordsCheckpoints?: boolean;
  /** The last checkpoint that the host knows of and has not imported. */
  readonly checkpoint?: string | undefined;
  readonly timeoutMs?: number;
}

/**
 * Commits all uncommitted files, as far as possible: problems with files, the index or HEAD must not fail the export of
 * commits. The report names what could not be included.
 */
const SNAPSHOT_UNCOMMITTED = `
find . -path ./.git -prune -o -type p '(' -name .gitignore -o -name .gitattributes ')' -exec rm -f -- {} +
snapshot() {
  git add --all --ignore-errors 2>/dev/null || echo ${REPORT.incompleteFiles}
  tree=$(git write-tree 2>/dev/null)
}
export GIT_INDEX_FILE="$GIT_DIR/sanddune-index"
cp "$GIT_DIR/index" "$GIT_INDEX_FILE" 2>/dev/null
if ! snapshot; then
  rm -f "$GIT_INDEX_FILE"
  git read-tree "$source" && snapshot || { tree=; echo ${REPORT.incompleteFiles}; }
fi
if [ -n "$tree" ] && [ "$tree" != "$(git rev-parse --quiet --verify "$source^{tree}")" ]; then
  commit=$(git commit-tree -p "$source" -m 'Uncommitted work' "$tree") &&
    git update-ref "\${own}uncommitted" "$commit" && made=1 && printf '${REPORT.uncommitted}%s\\n' "$commit"
fi
git ls-files --stage | sed -n 's/^160000 [0-9a-f]* 0.//p' | head -n 20 | while IFS= read -r path; do
  [ -n "$(git ls-tree "$source" -- "$path")" ] || printf '${REPORT.nested}%s\\n' "$path"
done
rm -f "$GIT_INDEX_FILE"
unset GIT_INDEX_FILE`;

const BREAK_LOCKS = `find "$GIT_DIR" -path "$GIT_DIR/objects" -prune -o -name '*.lock' -type f -exec rm -f -- {} +`;

/**
 * Packs the checkpoints that the host knows of into a bundle of their own, so that a problem with them does not fail
 * the export of commits. They build on these commits, which are not packed twice.
 */
const packCheckpoints = (checkpoint: string, timeoutMs: number): string => `
limit=
if command -v timeout >/dev/null; then limit="timeout -s KILL ${Math.ceil(timeoutMs / 4000)}"; fi
[ ! -f "$bundle" ] || git bundle list-heads "$bundle" | sed 's/^\\([0-9a-f]*\\) .*/^\\1/' >> "$known"
git update-ref --no-deref ${SANDBOX_CHECKPOINT_REF} ${checkpoint} 2>/dev/null &&
  $limit git bundle create --quiet "$checkpoints" --ignore-missing ${SANDBOX_CHECKPOINT_REF} --stdin < "$known" 2>/dev/null &&
  echo ${REPORT.checkpoints}`;

/** Reports why the source branch has no tip: the agent renamed it, or the repository is damaged. */
const explainMissingTip = (source: string): string => `
current=$(git symbolic-ref --quiet HEAD)
if [ "$current" != ${source} ] && [ ! -e "$GIT_DIR"/${source} ] &&
  ! sed -n 's/^[0-9a-f]* //p' "$GIT_DIR/packed-refs" 2>/dev/null | grep -q -F -x -e ${source} &&
  [ -n "$current" ] && git rev-parse --quiet --verify "$current^{commit}" >/dev/null; then
  echo ${REPORT.renamedBranch}
else
  echo ${REPORT.brokenTip}
fi`;

/** Prints a checksum of all refs, stashes and HEADs, to detect later changes. */
export const STATE_SCRIPT = `{ git for-each-ref --format='%(objectname) %(refname)'
  cat "$GIT_DIR/HEAD" "$GIT_DIR"/worktrees/*/HEAD "$GIT_DIR/logs/refs/stash" 2>/dev/null
} 2>&1 | cksum | sed 's/^/${REPORT.state}/'`;

/** Ends the script in plain mode. */
const RARE_EXIT_CODE = 75;

/**
 * In plain mode the shell reads short files itself and starts as few programs as possible, each with a limit. Whatever takes more is rare:
 * the script ends, and runs again as a program of its own, with one limit for all of it.
 */
const MODE = `rare() { [ -z "$plain" ] || exit ${RARE_EXIT_CODE}; }
# Whether a line matches: 0 yes, 1 no, 2 the file is long. Some shells read byte by byte.
mentions() {
  lines=0
  while [ "$lines" -lt 40 ]; do
    IFS= read -r line || [ -n "$line" ] || return 1
    case $line in $2) return 0 ;; esac
    lines=$((lines + 1))
  done < "$1"
  return 2
}`;

/** With a limit for all of it, one of its own would only keep a program from being ended. */
const PLAIN_LIMIT = `\${plain:+$_sanddune_limit}`;

/** The tip of the source branch. In plain mode the command that packs it finds out whether it is a commit: `unverified`. */
const readTip = (source: string): string => `source=
unverified=
if [ -n "$plain" ] && [ ! -d "$GIT_DIR/reftable" ] && [ -f "$GIT_DIR"/${source} ]; then
  read -r source rest < "$GIT_DIR"/${source}
fi
case $source in
'' | *[!0-9a-f]*) source=$($limit git rev-parse --quiet --verify ${source}'^{commit}') ;;
*) unverified="$source^{commit}" ;;
esac`;

/** Whether the bundle has the tip: its header ends with an empty line, and binary data follow. */
const IS_PACKED = `isPacked() {
  [ -f "$bundle" ] || return 1
  lines=0
  while [ "$lines" -lt 40 ] && IFS= read -r line && [ -n "$line" ]; do
    case $line in "$source "* | "-$source "*) return 0 ;; esac
    lines=$((lines + 1))
  done < "$bundle"
  [ "$lines" -eq 40 ] && sed '/^$/q' "$bundle" | grep -q -F -e "$source "
}`;

const IS_KNOWN = `isKnown() {
  case " $later " in *" ^$source "*) return 0 ;; esac
  mentions "$known" "^$source"
  case $? in
  0) return 0 ;;
  1) return 1 ;;
  *) grep -q -F -x -e "^$source" "$known" ;;
  esac
}`;

/** The commits to leave out come on standard input. */
const knownFromInput = (): string => `own=${newExportRefs()}
known="$GIT_DIR/sanddune-known"
later=
rm -rf "$known"
cat > "$known" || exit 1`;

/** They are in a file; the script that runs this one names the later ones. */
const KNOWN_FROM_FILE = `own=$_sanddune_own
known="$GIT_DIR/${KNOWN_COMMITS_FILE}"
later=$_sanddune_later
[ -f "$known" ] || exit 1`;

const script = (sandbox: ScriptPlace, order: PackOrder, known: string): string => {
  const source = shellQuote(order.sourceBranch === undefined ? "HEAD" : branchRef(order.sourceBranch));
  const isIsolated = sandbox.hostGitDirectory === undefined;
  return `${MODE}
${repositoryScript(sandbox, PLAIN_LIMIT)}
${order.breaksLocks ? BREAK_LOCKS : ""}
made=
bundle="$GIT_DIR/${BUNDLE}"
checkpoints="$GIT_DIR/${CHECKPOINTS_BUNDLE}"
# A git that was killed leaves its lock.
for old in "$bundle" "$bundle.lock" "$checkpoints" "$checkpoints.lock"; do
  if [ -e "$old" ] || [ -L "$old" ]; then rm -rf "$old"; fi
done
${known}
echo "${REPORT.ownRefs}$own"
${isIsolated ? `${STATE_SCRIPT}\n[ -z "$(git for-each-ref --format='%(objecttype)' 2>&1 >/dev/null)" ] || echo ${REPORT.incompleteRefs}` : ""}
${readTip(source)}
if [ -n "$source" ]; then
  printf '${REPORT.tip}%s\\n' "$source"
  ${isIsolated ? SNAPSHOT_UNCOMMITTED : ""}
else
  rare
  ${explainMissingTip(source)}
fi
${nameUnreferencedCommits(source)}
${IS_PACKED}
${IS_KNOWN}
pack() {
  said=$($limit git bundle create --quiet "$bundle" $unverified --ignore-missing ${order.recordsCheckpoints ? `--exclude=${SANDBOX_CHECKPOINT_REF} ` : ""}--all --stdin $later < "$known" 2>&1) && return
  case $said in *'empty bundle'*) ;; *) printf '%s\\n' "$said" >&2; exit 1 ;; esac
}
pack
if [ -n "$source" ] && ! isPacked && ! isKnown; then
  rare
  made=1
  git update-ref "\${own}tip" "$source" && pack
fi
[ ! -f "$bundle" ] || echo ${REPORT.bundle}
${order.checkpoint === undefined ? "" : packCheckpoints(order.checkpoint, order.timeoutMs ?? 0)}
[ -z "$made" ] || git for-each-ref --format='delete %(refname)' "$own" | git update-ref --stdin
[ ! -e "$GIT_DIR/sanddune-known" ] || rm -f "$GIT_DIR/sanddune-known"
echo ${REPORT.complete}`;
};

/**
 * Packs all commits that refs of the sandbox lead to and the host does not have, and prints a report. The input is the
 * list of known commits; those that the repository does not have are ignored.
 *
 * Git leaves out a ref that a background process of the agent moves meanwhile. Then the tip is packed by a ref that
 * does not move.
 */
export const packScript = (sandbox: SandboxRepository, order: PackOrder): string =>
  `plain=\n${script(sandbox, order, knownFromInput())}`;

/** The same for commands that pack their commits when they end: a file in the sandbox, because some shells read input byte by byte. */
export const packingFile = (place: ScriptPlace, sourceBranch: string | undefined): string =>
  script(place, { sourceBranch }, KNOWN_FROM_FILE);

/** The end of such a command: runs the file at `path`. The report goes to `reportPath`. */
export const packingStep = ({
  path,
  reportPath,
  laterCommits,
  limitSeconds,
}: {
  readonly path: string;
  readonly reportPath: string;
  readonly laterCommits: readonly string[];
  readonly limitSeconds: number;
}): string => `_sanddune_own=${newExportRefs()}
_sanddune_later='${laterCommits.map((sha) => `^${sha}`).join(" ")}'
_sanddune_limit=
! command -v timeout >/dev/null || _sanddune_limit='timeout -s KILL ${limitSeconds}'
# A shell would wait for the reader of a pipe.
if [ ! -e ${reportPath} ] || [ -f ${reportPath} ]; then
  ( plain=1; . ${path} ) </dev/null >${reportPath} 2>/dev/null
  if [ $? -eq ${RARE_EXIT_CODE} ]; then
    export _sanddune_own _sanddune_later plain=
    $_sanddune_limit sh ${path} </dev/null >${reportPath} 2>/dev/null
  fi
fi`;

/** The commits to leave out, as input for git. */
export const exclusions = (knownCommits: readonly string[]): string =>
  knownCommits.map((sha) => `^${sha}\n`).join("");

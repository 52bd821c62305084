import { shellQuote } from "../../../tools/shellQuote.ts";
import { branchRef } from "../../refs.ts";
import { newExportRefs, SANDBOX_CHECKPOINT_REF } from "../../runRefs.ts";
import { repositoryScript, type SandboxRepository } from "../sandboxRepository.ts";
import { REPORT } from "./exportReport.ts";

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

/**
 * Creates refs for commits that have none and are work nevertheless: stashes other than the last, autostashes of an
 * unfinished rebase or merge, commits that a checkout has left on a detached HEAD (git warns of these) and, if the
 * source branch is damaged, its last commit in the reflog. Commits that the agent has replaced or discarded (amend,
 * rebase, reset, a deleted branch, a dropped stash) are not exported.
 */
const nameUnreferencedCommits = (source: string): string => `
name() { while read -r sha type; do [ "$type" = missing ] || echo "create $own$1-$sha $sha"; done | git update-ref --stdin || echo ${REPORT.incompleteRefs}; }
if { [ -s "$GIT_DIR/logs/refs/stash" ] || [ -d "$GIT_DIR/reftable" ]; } && git rev-parse --quiet --verify refs/stash >/dev/null; then
  made=1
  git rev-list --walk-reflogs refs/stash | sed 1d | sort -u | name stash
fi
nameless=$(
  for directory in "$GIT_DIR" "$GIT_DIR"/worktrees/*; do
    [ ! -f "$directory/logs/HEAD" ] ||
      sed -n 's/^\\([0-9a-f]\\{40,64\\}\\) .*checkout: moving from [0-9a-f]\\{40,64\\} to .*/\\1/p' "$directory/logs/HEAD"
    for file in MERGE_AUTOSTASH rebase-merge/autostash rebase-apply/autostash; do
      [ ! -f "$directory/$file" ] || head -n 1 "$directory/$file"
    done
  done
  [ -n "$source" ] || [ ! -f "$GIT_DIR"/logs/${source} ] || tail -n 1 "$GIT_DIR"/logs/${source} | cut -d ' ' -f 2
)
if [ -n "$nameless" ]; then
  made=1
  printf '%s\\n' "$nameless" | sort -u | git cat-file --batch-check='%(objectname) %(objecttype)' | name left
fi`;

/** Prints a checksum of all refs, stashes and HEADs, to detect later changes. */
export const STATE_SCRIPT = `{ git for-each-ref --format='%(objectname) %(refname)'
  cat "$GIT_DIR/HEAD" "$GIT_DIR"/worktrees/*/HEAD "$GIT_DIR/logs/refs/stash" 2>/dev/null
} 2>&1 | cksum | sed 's/^/${REPORT.state}/'`;

/**
 * Packs all commits that refs of the sandbox lead to and the host does not have, and prints a report. The input is the
 * list of known commits; those that the repository does not have are ignored.
 *
 * Git leaves out a ref that a background process of the agent moves meanwhile. Then the tip is packed by a ref that
 * does not move.
 */
export const packScript = (sandbox: SandboxRepository, order: PackOrder): string => {
  const source = shellQuote(order.sourceBranch === undefined ? "HEAD" : branchRef(order.sourceBranch));
  const isIsolated = sandbox.hostGitDirectory === undefined;
  const own = newExportRefs();
  return `${repositoryScript(sandbox)}
${order.breaksLocks ? BREAK_LOCKS : ""}
own=${own}
made=
known="$GIT_DIR/sanddune-known"
bundle="$GIT_DIR/${BUNDLE}"
checkpoints="$GIT_DIR/${CHECKPOINTS_BUNDLE}"
rm -rf "$known" "$bundle" "$checkpoints" "$bundle.said"
cat > "$known" || exit 1
echo '${REPORT.ownRefs}${own}'
${isIsolated ? `${STATE_SCRIPT}\n[ -z "$(git for-each-ref --format='%(objecttype)' 2>&1 >/dev/null)" ] || echo ${REPORT.incompleteRefs}` : ""}
source=$(git rev-parse --quiet --verify ${source}'^{commit}')
if [ -n "$source" ]; then
  printf '${REPORT.tip}%s\\n' "$source"
  ${isIsolated ? SNAPSHOT_UNCOMMITTED : ""}
else
  ${explainMissingTip(source)}
fi
${nameUnreferencedCommits(source)}
pack() {
  git bundle create --quiet "$bundle" --ignore-missing ${order.recordsCheckpoints ? `--exclude=${SANDBOX_CHECKPOINT_REF} ` : ""}--all --stdin < "$known" 2>"$bundle.said" ||
    grep -q 'empty bundle' "$bundle.said" || { cat "$bundle.said" >&2; exit 1; }
}
pack
if [ -n "$source" ] && ! grep -q -F -x -e "^$source" "$known" && ! { [ -f "$bundle" ] && sed '/^$/q' "$bundle" | grep -q -F -e "$source "; }; then
  made=1
  git update-ref "\${own}tip" "$source" && pack
fi
[ ! -f "$bundle" ] || echo ${REPORT.bundle}
${order.checkpoint === undefined ? "" : packCheckpoints(order.checkpoint, order.timeoutMs ?? 0)}
[ -z "$made" ] || git for-each-ref --format='delete %(refname)' "$own" | git update-ref --stdin
rm -f "$known" "$bundle.said"
echo ${REPORT.complete}`;
};

/** The commits to leave out, as input for git. */
export const exclusions = (knownCommits: readonly string[]): string =>
  knownCommits.map((sha) => `^${sha}\n`).join("");

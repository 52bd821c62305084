import { shellQuote } from "../../../tools/shellQuote.ts";
import { branchRef } from "../../refs.ts";
import { newExportRefs, SANDBOX_CHECKPOINT_REF } from "../../runRefs.ts";
import { repositoryScript, type SandboxRepository } from "../sandboxRepository.ts";
import { REPORT } from "./exportReport.ts";

export const BUNDLE = "sanddune-export.bundle";
/** Made by the host, for commands that pack when they are over. */
export const KNOWN_COMMITS_FILE = "sanddune-known-commits";
export const CHECKPOINTS_BUNDLE = "sanddune-checkpoints.bundle";

/** What the script is to pack. */
export interface PackOrder {
  /** `undefined`: a detached HEAD. */
  readonly sourceBranch: string | undefined;
  /** The agent was killed: locks that it held would stay. */
  readonly breaksLocks?: boolean;
  /** Checkpoints are taken: the ref that holds them is not the agent's. */
  readonly recordsCheckpoints?: boolean;
  /** The last checkpoint that the host has been told of and does not have yet. */
  readonly checkpoint?: string | undefined;
  readonly timeoutMs?: number;
}

/**
 * Makes a commit of everything that is not committed. Best effort: whatever is wrong with the files, the index or HEAD,
 * the commits must get out. The report says what could not be included.
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
 * Packs checkpoints, as far as they are what the host has been told, into a bundle of their own: whatever became of
 * them, the commits must get out. They build on these, which need not be packed twice.
 */
const packCheckpoints = (checkpoint: string, timeoutMs: number): string => `
limit=
if command -v timeout >/dev/null; then limit="timeout -s KILL ${Math.ceil(timeoutMs / 4000)}"; fi
[ ! -f "$bundle" ] || git bundle list-heads "$bundle" | sed 's/^\\([0-9a-f]*\\) .*/^\\1/' >> "$known"
git update-ref --no-deref ${SANDBOX_CHECKPOINT_REF} ${checkpoint} 2>/dev/null &&
  $limit git bundle create --quiet "$checkpoints" --ignore-missing ${SANDBOX_CHECKPOINT_REF} --stdin < "$known" 2>/dev/null &&
  echo ${REPORT.checkpoints}`;

/** The source branch is missing: either the agent has renamed it and works on another one, or the repository is damaged. */
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
 * Gives refs to commits that have none of their own and are nevertheless work: stashes below the last one, what was
 * stashed for a rebase or merge that is under way, commits on a detached HEAD that a checkout has left (git warns of
 * these), and, if the source branch is damaged, the last commit that it is known to have had. Commits that the agent has
 * replaced or thrown away itself (amend, rebase, reset, a deleted branch, a dropped stash) stay behind.
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

/** A checksum of everything that names commits, by which it can be seen later whether there are others. */
export const STATE_SCRIPT = `{ git for-each-ref --format='%(objectname) %(refname)'
  cat "$GIT_DIR/HEAD" "$GIT_DIR"/worktrees/*/HEAD "$GIT_DIR/logs/refs/stash" 2>/dev/null
} 2>&1 | cksum | sed 's/^/${REPORT.state}/'`;

/**
 * Packs, in the sandbox, everything that its refs name and the host does not know, and prints a report. Input is the
 * list of known commits; those that the host has deleted and pruned since are ignored.
 *
 * Git leaves a ref out of a bundle that has moved meanwhile, by a process that the agent has left: then the tip is packed
 * by a name that does not move.
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

/** The commits that stay behind, as git reads them. */
export const exclusions = (knownCommits: readonly string[]): string =>
  knownCommits.map((sha) => `^${sha}\n`).join("");

import { REPORT } from "./exportReport.ts";

/**
 * Creates refs for commits that have none and are work nevertheless: stashes other than the last, autostashes of an
 * unfinished rebase or merge, commits that a checkout has left on a detached HEAD (git warns of these) and, if the
 * source branch is damaged, its last commit in the reflog. Commits that the agent has replaced or discarded (amend,
 * rebase, reset, a deleted branch, a dropped stash) are not exported.
 */
export const nameUnreferencedCommits = (source: string): string => `
name() { while read -r sha type; do [ "$type" = missing ] || echo "create $own$1-$sha $sha"; done | git update-ref --stdin || echo ${REPORT.incompleteRefs}; }
if [ -s "$GIT_DIR/logs/refs/stash" ] || [ -d "$GIT_DIR/reftable" ]; then
  rare
  if git rev-parse --quiet --verify refs/stash >/dev/null; then
    made=1
    git rev-list --walk-reflogs refs/stash | sed 1d | sort -u | name stash
  fi
fi
mayBeNameless=
[ -n "$source" ] || mayBeNameless=1
for directory in "$GIT_DIR" "$GIT_DIR"/worktrees/*; do
  if [ -f "$directory/logs/HEAD" ]; then
    mentions "$directory/logs/HEAD" '*checkout: moving from *'
    [ $? -eq 1 ] || mayBeNameless=1
  fi
  for file in MERGE_AUTOSTASH rebase-merge/autostash rebase-apply/autostash; do
    [ ! -f "$directory/$file" ] || mayBeNameless=1
  done
done
nameless=
if [ -n "$mayBeNameless" ]; then
  rare
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
fi
if [ -n "$nameless" ]; then
  made=1
  printf '%s\\n' "$nameless" | sort -u | git cat-file --batch-check='%(objectname) %(objecttype)' | name left
fi`;

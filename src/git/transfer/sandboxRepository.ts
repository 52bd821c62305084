import type { SandboxHandle } from "../../sandboxes/contract.ts";
import { shellQuote } from "../../tools/shellQuote.ts";

export interface SandboxRepository {
  readonly handle: SandboxHandle;
  /** Its git directory, in the sandbox. */
  readonly gitDirectory: string;
  /** The same directory on the host if the sandbox shares it; `undefined` if its files exist only in the sandbox. */
  readonly hostGitDirectory: string | undefined;
}

/** Where a script finds the repository, in the sandbox. */
export type ScriptPlace = Pick<SandboxRepository, "gitDirectory" | "hostGitDirectory"> & {
  readonly handle: Pick<SandboxHandle, "worktreePath">;
};

/** Git would look for refs in the directory that `commondir` names, so the file is moved away. */
export const COMMON_DIRECTORY_FILE = { name: "commondir", movedTo: "commondir.sanddune" } as const;

/** More entries than this are looked at by a program. */
const FEW_ENTRIES = 300;

/**
 * Sets `odd` to something in the git directory that is neither a file nor a directory. The shell looks itself, which takes less time than
 * the start of a program.
 */
const FIND_ODD = `odd=
looked=0
lookInto() {
  for entry in "$1"/* "$1"/.[!.]* "$1"/..?*; do
    looked=$((looked + 1))
    [ -z "$odd" ] && [ "$looked" -le ${FEW_ENTRIES} ] || return 0
    if [ "$entry" = "$GIT_DIR/objects" ]; then
      continue
    elif [ -L "$entry" ]; then
      odd=$entry
    elif [ -d "$entry" ]; then
      [ "$2" -ge 9 ] || lookInto "$entry" $(($2 + 1))
    elif [ -e "$entry" ] && [ ! -f "$entry" ]; then
      odd=$entry
    fi
  done
}
lookInto "$GIT_DIR" 1
[ "$looked" -le ${FEW_ENTRIES} ] ||
  odd=$($limit find "$GIT_DIR/refs" "$GIT_DIR" -maxdepth 8 -path "$GIT_DIR/objects" -prune -o ! -type f ! -type d -print 2>/dev/null | head -n 1)`;

/**
 * The beginning of every script that runs git on a sandbox's repository. It disables programs that the configuration
 * names, refuses files that would block git, and ignores what could hide commits: `commondir`, replaced objects and
 * grafts. `limit` becomes `$limit`, which is put in front of programs to end them after a time.
 */
export const repositoryScript = ({ gitDirectory, handle }: ScriptPlace, limit = ""): string =>
  `export GIT_CONFIG_COUNT=2 GIT_CONFIG_KEY_0=core.hooksPath GIT_CONFIG_VALUE_0=/dev/null GIT_CONFIG_KEY_1=core.fsmonitor GIT_CONFIG_VALUE_1=false
export LC_ALL=C GIT_DIR=${shellQuote(gitDirectory)} GIT_WORK_TREE=${shellQuote(handle.worktreePath)}
export GIT_NO_REPLACE_OBJECTS=1 GIT_GRAFT_FILE=/dev/null
limit=${limit}
cd -- "$GIT_WORK_TREE" || exit 1
[ -d "$GIT_DIR" ] && [ ! -L "$GIT_DIR" ] || { echo 'the git directory of the sandbox is missing or a link' >&2; exit 1; }
${FIND_ODD}
[ ! -e "$GIT_DIR/${COMMON_DIRECTORY_FILE.name}" ] || mv -f "$GIT_DIR/${COMMON_DIRECTORY_FILE.name}" "$GIT_DIR/${COMMON_DIRECTORY_FILE.movedTo}" || exit 1
[ -z "$odd" ] || { echo "$odd is neither a file nor a directory: git would wait for it" >&2; exit 1; }`;

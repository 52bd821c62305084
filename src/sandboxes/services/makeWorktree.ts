import { askLaunch } from "../exec/runLaunch.ts";
import type { SandboxAccess } from "../exec/sandboxAccess.ts";

const TIMEOUT_MS = 60_000;

const MAKE = `
[ -n "$HOME" ] && [ -d "$HOME" ] && [ -w "$HOME" ] && [ "$HOME" != / ] || HOME=\${TMPDIR:-/tmp}/sanddune-home
repo=\${1:-$HOME}/repo
[ -z "$2" ] || repo=\${1:-$HOME}/$2
[ -n "$2" ] || [ -z "$(ls -A "$repo" 2>/dev/null)" ] || repo=\${1:-$HOME}/sanddune-repo
mkdir -p -- "$HOME" "$repo" 2>&1 && cd -- "$repo" && pwd -P && printf '%s\\n' "$HOME" && { id -u || :; }
`;

export interface MadeWorktree {
  readonly worktreePath: string;
  readonly home: string;
  /** Whether commands run as root. */
  readonly isRoot: boolean;
}

/**
 * Makes the worktree's directory in a new sandbox, without touching a directory of its image: in `inside`, or else in the home
 * of the commands' user. `existing` names the directory that a snapshot has there. Rejects if commands cannot be run.
 */
export const makeWorktree = async (
  launch: SandboxAccess["launch"],
  {
    inside = "",
    existing = "",
    signal,
  }: { readonly inside?: string; readonly existing?: string; readonly signal?: AbortSignal | undefined },
): Promise<MadeWorktree> => {
  const argv = ["sh", "-c", MAKE, "sh", inside, existing];
  const { exitCode, stdout } = await askLaunch(launch(argv, { sudo: false }), {
    timeoutMs: TIMEOUT_MS,
    ...(signal && { signal }),
  });
  const [worktreePath, home, uid] = stdout.split("\n");
  if (exitCode !== 0 || !worktreePath || !home) {
    const said = stdout.trim();
    const why = said === "" ? `exit code ${exitCode}` : said;
    throw new Error(`the directory of the worktree could not be made (${why})`);
  }
  return { worktreePath, home, isRoot: uid === "0" };
};

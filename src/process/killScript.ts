import { EXEC_ID_VARIABLE, SANDBOX_VARIABLE } from "./processMarks.ts";

/**
 * `sh -c KILL_SCRIPT mark own patience` kills every process whose environment carries `mark`, again and again until none is
 * left. It finds what has left the process group, the session and its parent, and forks once per sweep, not per process.
 *
 * - Where nothing is found, it looks again up to `patience` times: the command may be about to start.
 * - A dead process that nobody has reaped yet has no environment and does not count.
 * - With `own` = `own`, all of the pid namespace is the sandbox's, and processes that have cleared their environment
 *   are killed as well. The container engine's own helper, which sets up an exec, is spared, and so is pid 1.
 * - Exits with 1 when something survived.
 */
export const KILL_SCRIPT = `
matching() {
  grep -lszxF -e "$0" /proc/[0-9]*/environ
  [ "$1" = own ] || return 0
  for file in $(grep -LsF -e ${SANDBOX_VARIABLE} -e _LIBCONTAINER_ /proc/[0-9]*/environ); do
    { IFS= read -r stat <"\${file%environ}stat"; } 2>/dev/null || continue
    case \${stat##*) } in [ZX]*) ;; *) echo "$file" ;; esac
  done
}
found=
sweep=0
while [ $sweep -lt 40 ]; do
  sweep=$((sweep + 1))
  pids=
  for file in $(matching "$1"); do
    pid=\${file#/proc/}
    pid=\${pid%/*}
    [ "$pid" = 1 ] || pids="$pids $pid"
  done
  if [ -n "$pids" ]; then
    found=yes
    kill -9 $pids 2>/dev/null
    [ $sweep -lt 3 ] || sleep 0.02
  elif [ -n "$found" ] || [ $sweep -ge $2 ]; then
    exit 0
  else
    sleep 0.05
  fi
done
exit 1
`;

const PATIENCE = 6;

/** The argv that kills a command with all its descendants, to be run in the sandbox by the user it ran as. */
export const killExecArguments = (
  execId: string,
  options: {
    readonly ownsProcessNamespace: boolean;
    /** Whether the command may yet start, although the process that asked for it was killed. */
    readonly mayStillStart: boolean;
  },
): readonly string[] => [
  "sh",
  "-c",
  KILL_SCRIPT,
  `${EXEC_ID_VARIABLE}=${execId}`,
  options.ownsProcessNamespace ? "own" : "shared",
  String(options.mayStillStart ? PATIENCE : 1),
];

/** The argv that kills everything of a sandbox that shares its pid namespace with others. */
export const killSandboxArguments = (sandboxMark: string): readonly string[] => [
  "sh",
  "-c",
  KILL_SCRIPT,
  `${SANDBOX_VARIABLE}=${sandboxMark}`,
  "shared",
  "1",
];

import { EXEC_ID_VARIABLE, SANDBOX_VARIABLE } from "./processMarks.ts";

/**
 * `sh -c KILL_SCRIPT mark own patience` kills every process with `mark` in its environment, repeatedly until none is left.
 * It finds processes that have left their group, session and parent. It forks per sweep, not per process.
 *
 * - A process that starts after /proc was listed is not in the list, and its parent may die before it is examined. So two
 *   sweeps in a row must find nothing.
 * - During an exec a process has no environment, and may turn out to be marked. While such processes exist, six sweeps in a
 *   row must find nothing; a process without an environment after that has cleared it.
 * - If nothing is found at all, it repeats up to `patience` times: the command may be about to start.
 * - All are stopped first: a shell whose command dies before it does would begin the next one.
 * - A zombie has no memory and does not count.
 * - With `own` = `own` the pid namespace belongs to the sandbox, and processes that have cleared their environment are
 *   killed as well, except for pid 1 and the container engine's helper that sets up an exec.
 * - Exits with 1 when something survived.
 */
export const KILL_SCRIPT = `
has_memory() { [ "\${21}" != 0 ]; }
lives() { { IFS= read -r stat <"\${1%environ}stat"; } 2>/dev/null && has_memory \${stat##*) }; }
living() { for file in "$@"; do ! lives "$file" || echo "$file"; done; }
kill_all() {
  pids=
  for file in "$@"; do
    pid=\${file#/proc/}
    pid=\${pid%/*}
    [ "$pid" = 1 ] || pids="$pids $pid"
  done
  [ -n "$pids" ] && { kill -STOP $pids; kill -9 $pids; } 2>/dev/null
  [ -n "$pids" ]
}
found=
cleared=
calm=0
sweep=0
while [ $sweep -lt 40 ]; do
  sweep=$((sweep + 1))
  blank=" $(echo $(living $(grep -Ls -e "" /proc/[0-9]*/environ))) "
  files=$(grep -lszxF -e "$0" /proc/[0-9]*/environ)
  if [ "$1" = own ]; then
    for file in $(living $(grep -LsF -e ${SANDBOX_VARIABLE} -e _LIBCONTAINER_ /proc/[0-9]*/environ)); do
      # Read again: the exec may have begun or ended since.
      case $(tr '\\0' ' ' <"$file" 2>/dev/null) in
        "" | *${SANDBOX_VARIABLE}* | *_LIBCONTAINER_*) ;;
        *) files="$files $file" ;;
      esac
    done
  fi
  if kill_all $files; then
    found=yes
    calm=0
    [ $sweep -lt 3 ] || sleep 0.02
    continue
  fi
  calm=$((calm + 1))
  [ $calm != 1 ] || stayed=$blank
  still=
  for file in $stayed; do
    case $blank in *" $file "*) still="$still $file" ;; esac
  done
  stayed=$still
  needed=2
  [ -n "$found" ] || [ $2 -le $needed ] || needed=$2
  [ "$blank" = "  " ] || [ $needed -ge 6 ] || needed=6
  if [ $calm -lt $needed ]; then
    [ $needed = 2 ] || sleep 0.05
  elif [ "$1" = own ] && [ -z "$cleared" ] && kill_all $stayed; then
    cleared=yes
    calm=0
  else
    exit 0
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
    /** Whether the command may still start, although the process that requested it was killed. */
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

import { EXEC_ID_VARIABLE } from "./processMarks.ts";

/** What the script below says at its end. */
export const COMMANDS_ENDED = "ended\n";

/**
 * Ends all commands of a sandbox that belong to its user, with their descendants; not the process that keeps the sandbox there,
 * as `kill -9 -1` would where that is not the first one.
 */
export const endCommandsArguments: readonly string[] = [
  "sh",
  "-c",
  `
sweep=0
while [ $sweep -lt 40 ]; do
  sweep=$((sweep + 1))
  pids=
  for file in $(grep -lsz '^${EXEC_ID_VARIABLE}=' /proc/[0-9]*/environ); do
    pid=\${file#/proc/}
    pids="$pids \${pid%/*}"
  done
  [ -n "$pids" ] || break
  kill -9 $pids 2>/dev/null
  sleep 0.02
done
echo ended`,
];

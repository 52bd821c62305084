import { EXEC_ID_VARIABLE } from "./processMarks.ts";

/** The last output of the script below. */
export const COMMANDS_ENDED = "ended\n";

/**
 * Ends all commands of a sandbox's user, with their descendants, but not the process that keeps the sandbox running:
 * `kill -9 -1` would kill that as well, unless it is pid 1.
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

# Sourced: processes known by a pid on record.
# shellcheck shell=bash

# Is the process of this pidfile alive, and really ours? A pid outlives its
# process on disk and may name a stranger, so its command line or environment
# must show a path that only ours was given. A zombie shows neither.
alive() {
  local pidfile=$1 mark=$2 pid
  pid=$(cat -- "$pidfile" 2>/dev/null) && [ -n "$pid" ] || return 1
  grep -qsF -- "$mark" "/proc/$pid/cmdline" "/proc/$pid/environ"
}

# Wait until a condition holds: wait_until SECONDS COMMAND...
wait_until() {
  local deadline=$((SECONDS + $1))
  shift
  until "$@"; do
    [ "$SECONDS" -lt "$deadline" ] || return 1
    sleep 0.1
  done
}

# End the process of a pidfile, first politely, and see it gone.
end_process() {
  local pidfile=$1 mark=$2
  alive "$pidfile" "$mark" || return 0
  kill -TERM "$(cat -- "$pidfile")" 2>/dev/null || true
  wait_until 30 gone "$pidfile" "$mark" && return 0
  kill -KILL "$(cat -- "$pidfile")" 2>/dev/null || true
  wait_until 10 gone "$pidfile" "$mark"
}

gone() { ! alive "$@"; }

# Does no process carry this path in its command line?
unmentioned() { ! grep -qsF -- "$1" /proc/[0-9]*/cmdline; }

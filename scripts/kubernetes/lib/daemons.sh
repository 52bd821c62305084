# Sourced after paths.sh and machines.sh: daemons in machines. The process ids on
# record are those inside.
# shellcheck shell=bash disable=SC2154

started=() # by this command, as "machine daemon"

daemons_of() {
  case $1 in
    control) echo etcd kube-apiserver kube-controller-manager kube-scheduler ;;
    *) echo containerd kubelet ;;
  esac
}

# start_daemon MACHINE NAME ARGUMENT...: unless it runs.
start_daemon() {
  local machine=$1 name=$2
  shift 2
  if daemon_alive "$machine" "$name"; then return 0; fi
  started+=("$machine $name")
  # shellcheck disable=SC2016 # expanded by the shell inside the machine
  enter "$machine" bash -c 'log=$1 record=$2; shift 2; setsid "$@" </dev/null >>"$log" 2>&1 & echo $! >"$record"' spawn \
    "$inside/logs/$machine-$name.log" "$inside/run/$machine/$name.pid" "$name" "$@"
}

daemon_alive() {
  local pid
  { read -r pid <"$run/$1/$2.pid"; } 2>/dev/null && machine_pid "$1" >/dev/null || return 1
  # shellcheck disable=SC2016
  enter "$1" bash -c '[[ $(readlink "/proc/$1/exe") == */"$2" ]]' alive "$pid" "$2"
}

expect_started_daemons() {
  local daemon machine name
  for daemon in "${started[@]}"; do
    read -r machine name <<<"$daemon"
    daemon_alive "$machine" "$name" || die_with_log "$logs/$machine-$name.log" "$1: $name on $machine has died"
  done
}

kill_daemons() {
  local machine=$1 name pid
  shift
  for name; do
    if daemon_alive "$machine" "$name"; then
      pid=$(<"$run/$machine/$name.pid")
      # shellcheck disable=SC2016 # the shell's own kill: there may be no other
      enter "$machine" bash -c 'kill -KILL "$1"' kill "$pid"
      while daemon_alive "$machine" "$name"; do sleep 0.05; done
    fi
    rm -f "$run/$machine/$name.pid"
  done
}

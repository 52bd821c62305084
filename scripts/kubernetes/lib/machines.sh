# Sourced after paths.sh: the machines of the cluster. Each is a set of
# namespaces (mount, network, process, host name) that one process holds, its
# init. To kill that one is a power cut: the kernel then ends every process of
# the machine, pods included, and takes back its mounts and its network. So
# stopping needs nothing but three recorded processes, and leaves nothing.
# shellcheck shell=bash disable=SC2154

# wait_for SECONDS WHAT COMMAND...: gives up at once when a daemon has died that
# was started for it.
wait_for() {
  local deadline=$((SECONDS + $1)) what=$2
  shift 2
  until "$@" >/dev/null 2>&1; do
    expect_started_daemons "$what"
    [ "$SECONDS" -lt "$deadline" ] || die "$what: not ready in time; the logs are in $logs"
    sleep 0.3
  done
}

# A process is recorded with its start time and the boot, so that a recycled
# number is never taken for it.
identity() {
  local pid=$1 stat
  { read -r stat <"/proc/$pid/stat"; } 2>/dev/null || return 1
  # shellcheck disable=SC2086 # the fields after the program's name, from the third on
  set -- ${stat##*) }
  [ "$1" != Z ] || return 1
  echo "${stat%% *} ${20} $(</proc/sys/kernel/random/boot_id)"
}

# The init of a machine that lives.
machine_pid() {
  local recorded pid
  { read -r recorded <"$run/$1/init"; } 2>/dev/null || return 1
  pid=${recorded%% *}
  [ "$(identity "$pid")" = "$recorded" ] || return 1
  echo "$pid"
}

machine_ready() { [ -e "$run/$1/ready" ] && machine_pid "$1" >/dev/null; }

start_machine() {
  local name=$1 holder
  if machine_ready "$name"; then return 0; fi
  stop_machine "$name" # one that was left half-made
  mkdir -p "$run/$name"/{mnt,var/{lib,log,tmp,cache}}
  ln -sfn /run "$run/$name/var/run"
  prepare_cgroup "$name"
  setsid env -i PATH="$PATH" HOME=/root unshare --mount --propagation private --net --uts --pid --fork --kill-child \
    bash "$kubernetes/lib/machine-init" "$name" </dev/null >>"$logs/$name.log" 2>&1 &
  holder=$!
  wait_for 30 "machine $name" machine_ready_or_dead "$name" "$holder"
  machine_ready "$name" || die_with_log "$logs/$name.log" "machine $name could not be set up"
}

machine_ready_or_dead() { machine_ready "$1" || ! kill -0 "$2"; }

# Returns when the kernel has ended all its processes: init's end is the last.
stop_machine() {
  local name=$1 pid deadline=$((SECONDS + 60))
  if pid=$(machine_pid "$name"); then
    kill -KILL "$pid"
    while machine_pid "$name" >/dev/null; do
      [ "$SECONDS" -lt "$deadline" ] || die "machine $name does not end: process $pid"
      sleep 0.05
    done
  fi
  rm -f "$run/$name"/{init,ready,connected,*.pid}
}

# enter MACHINE COMMAND...: with nothing of the caller's environment.
enter() {
  local name=$1 pid
  shift
  if ! pid=$(machine_pid "$name"); then
    say "machine $name is not running"
    return 1
  fi
  nsenter --target "$pid" --mount --uts --net --pid -- env -i PATH="$inside_path" HOME=/run TERM="${TERM:-dumb}" "$@"
}

# The cgroups of pods are below that of their machine, in every hierarchy.
cgroup_mounts() { findmnt --noheadings --raw --output TARGET --types cgroup,cgroup2 | sort -u; }

prepare_cgroup() {
  local name=$1 mount controller
  [ "$name" != control ] || return 0
  for mount in $(cgroup_mounts); do
    mkdir -p "$mount/$cgroup/$name"
    # With cgroups 2 alone, a child has only what its parents hand down.
    [ "$mount" = /sys/fs/cgroup ] || continue
    for controller in cpu cpuset memory pids hugetlb; do
      grep -qw "$controller" "$mount/cgroup.subtree_control" || echo "+$controller" >"$mount/cgroup.subtree_control" || true
      echo "+$controller" >"$mount/$cgroup/cgroup.subtree_control" || true
    done 2>/dev/null
  done
}

remove_cgroups() {
  local mount
  for mount in $(cgroup_mounts); do
    [ -d "$mount/$cgroup" ] || continue
    find "$mount/$cgroup" -depth -type d -exec rmdir {} + || say "could not remove the cgroup $mount/$cgroup"
  done
}

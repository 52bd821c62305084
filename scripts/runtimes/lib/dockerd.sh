# Sourced after paths.sh, process.sh: a Docker daemon of our own, away from any
# that the machine runs.
# shellcheck shell=bash disable=SC2154

docker_data=$cache/docker
docker_namespace=sanddune-test

docker_pidfile() { printf '%s/docker.pid' "$(recorded "$run_record")"; }

docker_host() { printf 'unix://%s/docker.sock' "$(recorded "$run_record")"; }

own_docker() { DOCKER_HOST=$(docker_host) docker "$@"; }

docker_answers() { own_docker version >/dev/null 2>&1; }

docker_alive() { alive "$(docker_pidfile)" "$docker_data"; }

start_dockerd() {
  if docker_alive && docker_answers; then return 0; fi
  end_process "$(docker_pidfile)" "$docker_data"
  local run
  run=$(recorded "$run_record")
  # A daemon refuses to start while a pidfile names any living process, so
  # those left by a crash or a reboot have to go. The state beside them stays:
  # by it the daemon finds the containers that a crash left running.
  rm -f "$run/docker.pid"
  alive "$run/docker/containerd/containerd.pid" "$run" || rm -f "$run/docker/containerd/containerd.pid"

  local flags=(
    --data-root "$docker_data"
    --exec-root "$run/docker"
    --host "$(docker_host)"
    --pidfile "$(docker_pidfile)"
    # A system-wide containerd, where one runs, is shared by all daemons: only
    # the namespaces keep their containers apart.
    --containerd-namespace "$docker_namespace"
    --containerd-plugins-namespace "$docker_namespace-plugins"
    # The host's network stays as it is, save for IP forwarding, without which
    # every "docker run" warns. Containers have no network by default.
    --bridge none --iptables=false --ip6tables=false --ip-masq=false
    # Tests that do not run as root use the daemon as members of a docker
    # group do.
    --group "$test_user"
  )
  mkdir -p "$docker_data"
  setsid dockerd "${flags[@]}" </dev/null >"$cache/dockerd.log" 2>&1 &
  local pid=$!
  if ! wait_until 60 docker_answers_or_dead "$pid" || ! docker_answers; then
    kill -TERM "$pid" 2>/dev/null || true
    tail -n 20 "$cache/dockerd.log" >&2
    die "dockerd does not answer; the log is $cache/dockerd.log"
  fi
}

docker_answers_or_dead() { docker_answers || ! kill -0 "$1" 2>/dev/null; }

stop_dockerd() {
  [ -d "$docker_data" ] || return 0
  # A daemon that died left its containers running. One started over the same
  # data knows them and can end them.
  if (start_dockerd); then
    own_docker ps -aq | DOCKER_HOST=$(docker_host) xargs -r docker rm -f >/dev/null
  fi
  end_process "$(docker_pidfile)" "$docker_data"
  local run
  run=$(recorded "$run_record")
  end_process "$run/docker/containerd/containerd.pid" "$run"
  remove_dir "$run/docker"
  remove_dir "$docker_data"
}

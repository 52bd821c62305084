# Sourced after paths.sh: Podman with settings and storage of our own, once as
# root and once as the test user.
# shellcheck shell=bash disable=SC2154

podman_data=$cache/podman

own_podman() {
  CONTAINERS_CONF=$cache/containers.conf CONTAINERS_STORAGE_CONF=$cache/storage.conf podman "$@"
}

# From a directory that the test user can enter: Podman returns to where it was
# called.
rootless_podman() {
  (cd -- "$(recorded "$rootless_record")" && "$runtimes/as-test-user" podman "$@")
}

configure_podman() {
  local run rootless
  run=$(recorded "$run_record")
  rootless=$(recorded "$rootless_record")
  mkdir -p "$podman_data"

  {
    common_conf
    # Where Podman notes what runs since boot; by default one place for all
    # storages of root.
    printf 'tmp_dir = "%s/libpod"\n' "$run"
  } | replace "$cache/containers.conf"
  storage_conf "$(overlay_or_vfs)" "$podman_data" "$run/podman" | replace "$cache/storage.conf"

  common_conf | replace "$rootless/containers.conf"
  {
    storage_conf "$(rootless_driver "$rootless")" "$rootless/storage" "$rootless/run/containers"
    # What a user's Podman goes by instead of graphroot.
    printf 'rootless_storage_path = "%s/storage"\n' "$rootless"
  } | replace "$rootless/storage.conf"
}

common_conf() {
  cat <<CONF
[containers]
# The built-in defaults may lie above what the machine lets us set.
default_ulimits = ["nofile=$(at_most 20000 "$(ulimit -Hn)")", "nproc=$(at_most 4096 "$(ulimit -Hu)")"]
# As with our Docker: no network unless one is asked for.
netns = "none"
# There may be no journal to write to or read from.
log_driver = "k8s-file"
init_path = "/usr/bin/docker-init"

[network]
# Otherwise guessed from what else is installed.
network_backend = "netavark"

[engine]
events_logger = "file"
# crun refuses machines that mount both versions of cgroups, and systemd may
# not be there to manage them.
runtime = "runc"
cgroup_manager = "cgroupfs"
# Podman as a service does not look for it where Podman as a command does.
init_path = "/usr/bin/docker-init"
CONF
}

storage_conf() {
  printf '[storage]\ndriver = "%s"\ngraphroot = "%s"\nrunroot = "%s"\n' "$@"
}

# Whether overlays work here, Docker has found out already.
overlay_or_vfs() {
  case $(own_docker info --format '{{.Driver}}') in
    overlay*) echo overlay ;;
    *) echo vfs ;;
  esac
}

# Whether an ordinary user may mount overlays depends on the kernel. vfs works
# everywhere, but copies the whole image for every container.
rootless_driver() {
  local probe
  probe=$(runuser -u "$test_user" -- mktemp -d "$1/probe.XXXXXX")
  # shellcheck disable=SC2016 # for the inner shell
  if runuser -u "$test_user" -- unshare --map-root-user --mount sh -ec '
    cd "$1"
    mkdir lower upper work merged
    mount -t overlay -o lowerdir=lower,upperdir=upper,workdir=work overlay merged
  ' sh "$probe" >/dev/null 2>&1; then
    echo overlay
  else
    echo vfs
  fi
  rm -rf -- "$probe"
}

at_most() {
  if [ "$2" = unlimited ] || [ "$2" -gt "$1" ]; then echo "$1:$1"; else echo "$2:$2"; fi
}

replace() {
  cat >"$1.new"
  chmod 644 "$1.new"
  mv "$1.new" "$1"
}

stop_podman() {
  [ ! -f "$cache/storage.conf" ] || own_podman rm --all --force --time 0 >/dev/null || true
  podman_settled "$podman_data"
  remove_dir "$podman_data"
}

stop_rootless_podman() {
  local rootless
  rootless=$(recorded "$rootless_record") || return 0
  if [ -f "$rootless/storage.conf" ]; then
    rootless_podman rm --all --force --time 0 >/dev/null || true
    # A process of Podman's holds the user namespace open between commands.
    end_process "$rootless/run/libpod/tmp/pause.pid" "$rootless"
  fi
  podman_settled "$rootless"
  remove_dir "$rootless"
  rm -f "$rootless_record"
}

# The monitor of each container, once that is gone, starts a Podman of its own
# to clean up, which would mount the storage again while we remove it.
podman_settled() {
  wait_until 30 unmentioned "$1" || printf 'still in use: %s\n' "$1" >&2
}

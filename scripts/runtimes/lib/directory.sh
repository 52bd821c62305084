# Sourced after paths.sh: directories that hold mounts and sockets.
# shellcheck shell=bash disable=SC2154

# The directory for sockets and other run-time state. The address of a unix
# socket holds 107 bytes and the daemons append up to 50 of their own; and the
# test user must get through to the socket. Where the checkout offers neither,
# a short directory elsewhere is made and recorded.
make_run_dir() {
  local run
  if ! run=$(recorded "$run_record"); then
    run=$cache/run
    if [ "${#run}" -gt 55 ] || ! runuser -u "$test_user" -- test -x "$cache"; then
      run=$(mktemp -d /tmp/sanddune.XXXXXX)
    fi
    printf '%s\n' "$run" >"$run_record"
  fi
  mkdir -p "$run"
  chmod 711 "$run"
}

# Remove a directory together with what engines left mounted below it.
remove_dir() {
  local dir=$1 mount
  while read -r mount; do
    umount -l -- "$mount" || true
  done < <(awk -v dir="$dir/" 'index($5 "/", dir) == 1 { print $5 }' /proc/self/mountinfo | sort -r)
  # Should a mount have stayed, what is mounted there is not ours to delete.
  rm -rf --one-file-system -- "$dir"
}

# Sourced after paths.sh: one command at a time per checkout.
# shellcheck shell=bash disable=SC2154

# flock runs the script again with the lock's descriptor closed (-o): a daemon
# that inherited it would hold the lock for as long as it lives.
exclusive() {
  [ "${SANDDUNE_KUBERNETES_LOCKED:-}" != "$cache" ] || return 0
  mkdir -p "$cache"
  # Even before anybody lists it in a .gitignore, none of this is source.
  echo '*' >"$cache/.gitignore"
  SANDDUNE_KUBERNETES_LOCKED=$cache exec flock -o "$cache/lock" "$@"
}

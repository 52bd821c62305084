# Sourced: where everything of the test runtimes lives and what it is called.
# shellcheck shell=bash disable=SC2034

runtimes=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd -P)
checkout=$(cd -- "$runtimes/../.." && pwd -P)
cache=$checkout/.cache/runtimes

base_image=sanddune-test-base
user_image=sanddune-test-user
test_user=sanddune-test

# Where a directory had to be chosen at run time, the choice is on record.
run_record=$cache/run-dir
rootless_record=$cache/rootless-dir

# Daemons and helpers live in sbin, which is not on every caller's PATH.
export PATH="$PATH:/usr/local/sbin:/usr/sbin:/sbin"

die() {
  printf '%s: %s\n' "${0##*/}" "$*" >&2
  exit 1
}

need_root() {
  [ "$(id -u)" = 0 ] || die "must run as root"
}

recorded() {
  [ -s "$1" ] && cat -- "$1"
}

test_user_home() {
  getent passwd "$test_user" | cut -d: -f6
}

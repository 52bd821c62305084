# Sourced after paths.sh: an ordinary user, for rootless Podman and for tests
# that must not run as root.
# shellcheck shell=bash disable=SC2154

# By this we know a user that we made.
test_user_comment='tests of sanddune'

make_test_user() {
  getent passwd "$test_user" >/dev/null ||
    useradd --create-home --shell /bin/bash --comment "$test_user_comment" "$test_user"
  # useradd gives ranges to new users where the machine is set up so.
  grep -q "^$test_user:" /etc/subuid 2>/dev/null ||
    usermod --add-subuids "$(free_range /etc/subuid)" "$test_user"
  grep -q "^$test_user:" /etc/subgid 2>/dev/null ||
    usermod --add-subgids "$(free_range /etc/subgid)" "$test_user"
}

is_our_test_user() {
  [ "$(getent passwd "$test_user" | cut -d: -f5)" = "$test_user_comment" ]
}

# Another checkout has its runtimes there.
test_user_is_used() {
  compgen -G "$(test_user_home)/runtimes.*" >/dev/null
}

remove_test_user() {
  is_our_test_user && ! test_user_is_used || return 0
  userdel --remove "$test_user" 2>/dev/null || printf 'the user %s cannot be removed\n' "$test_user" >&2
}

# The 65536 ids behind the last ones given away.
free_range() {
  touch "$1"
  awk -F: 'BEGIN { next_id = 100000 }
    $2 + $3 > next_id { next_id = $2 + $3 }
    END { print next_id "-" next_id + 65535 }' "$1"
}

# All that rootless Podman writes, in that user's home: the checkout may lie
# where the user cannot go. One per checkout, so that checkouts do not share.
make_rootless_dir() {
  local dir home
  home=$(test_user_home)
  if ! dir=$(recorded "$rootless_record"); then
    dir=$(runuser -u "$test_user" -- mktemp -d "$home/runtimes.XXXXXX")
    printf '%s\n' "$dir" >"$rootless_record"
  fi
  install -d -m 700 -o "$test_user" -g "$test_user" "$dir" "$dir/home" "$dir/run" "$dir/storage"
}

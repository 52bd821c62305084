# Sourced after paths.sh, base-tar.sh: the test images, for any engine whose
# command line is Docker's.
# shellcheck shell=bash disable=SC2154

# The engines do not disturb each other, so all of them at once.
make_images_in() {
  local engine pid pids=() failed=0
  for engine; do
    make_images "$engine" &
    pids+=($!)
  done
  for pid in "${pids[@]}"; do
    wait "$pid" || failed=1
  done
  return "$failed"
}

# make_images ENGINE: puts both images there unless they are there already.
make_images() {
  local engine=$1 recipe
  # An image made by an earlier recipe is no match.
  recipe=$(cat "$base_tar.recipe" "$runtimes/lib/user.Dockerfile" | sha256sum | cut -c1-16)
  has_image "$base_image" ||
    quietly "$engine" import --change "LABEL sanddune.recipe=$recipe" - "$base_image" <"$base_tar"
  has_image "$user_image" ||
    quietly "$engine" build --network none --tag "$user_image" - <"$runtimes/lib/user.Dockerfile"
}

has_image() {
  [ "$("$engine" image inspect --format '{{index .Config.Labels "sanddune.recipe"}}' "$1" 2>/dev/null)" = "$recipe" ]
}

# What an engine says matters only when it fails.
quietly() {
  local log=$cache/images.$1.log
  "$@" >"$log" 2>&1 || {
    cat -- "$log" >&2
    die "failed: $*"
  }
}

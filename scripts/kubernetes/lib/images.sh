# Sourced after paths.sh: images, which are made here and brought to the nodes
# by hand. There is no registry.
# shellcheck shell=bash disable=SC2154

# pack_image ROOTFS.tar OUT.tar CONFIG TAG...: what `docker save` would write.
pack_image() {
  local rootfs=$1 out=$2 config=$3 work id tags
  shift 3
  tags=$(printf ',"%s"' "$@")
  work=$(mktemp -d "$(dirname "$out")/pack.XXXXXX")
  ln "$rootfs" "$work/rootfs.tar"
  printf '{"architecture":"%s","os":"linux","config":%s,"rootfs":{"type":"layers","diff_ids":["sha256:%s"]}}' \
    "$(dpkg --print-architecture)" "$config" "$(sha256sum <"$work/rootfs.tar" | cut -d' ' -f1)" >"$work/config"
  id=$(sha256sum <"$work/config" | cut -d' ' -f1)
  mv "$work/config" "$work/$id.json"
  printf '[{"Config":"%s.json","RepoTags":[%s],"Layers":["rootfs.tar"]}]' "$id" "${tags:1}" >"$work/manifest.json"
  tar --owner=0 --group=0 --numeric-owner -C "$work" -cf "$out.new" manifest.json "$id.json" rootfs.tar
  mv "$out.new" "$out"
  rm -rf -- "$work"
}

# The root file system is that of the container runtimes' tests, under their lock.
make_test_image() {
  install_missing debootstrap=debootstrap
  local rootfs
  mkdir -p "$checkout/.cache/runtimes" "$images"
  # shellcheck disable=SC2016 # expanded by the shell that is started
  rootfs=$(flock "$checkout/.cache/runtimes/lock" bash -euo pipefail -c '
    for part in paths directory base-tar; do . "$1/$part.sh"; done
    make_base_tar >&2
    echo "$base_tar"' base-tar "$checkout/scripts/runtimes/lib")
  if [ "$images/test.tar" -nt "$rootfs" ]; then return 0; fi
  pack_image "$rootfs" "$images/test.tar" \
    '{"Cmd":["bash"],"Env":["PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"],"WorkingDir":"/"}' \
    "$test_image"
}

# load_image NODE ARCHIVE IMAGE: unless the node has it.
load_image() {
  local node=$1 archive=$2 image=$3
  if [ -n "$(enter "$node" ctr -n k8s.io images list -q "name==$image")" ]; then return 0; fi
  enter "$node" ctr -n k8s.io images import - <"$archive" >/dev/null
}

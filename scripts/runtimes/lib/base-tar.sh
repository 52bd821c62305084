# Sourced after paths.sh: the root file system of the base image, made from the
# packages of the machine's own mirror, so that no image registry is needed.
# shellcheck shell=bash disable=SC2154

base_tar=$cache/base.tar
base_suite=bookworm
base_packages=git,bash,ca-certificates,procps

make_base_tar() {
  # A tar of another recipe is no match, and the recipe is this file.
  local recipe
  recipe=$(sha256sum <"${BASH_SOURCE[0]}" | cut -c1-16)
  if [ -f "$base_tar" ] && [ "$(recorded "$base_tar.recipe")" = "$recipe" ]; then return 0; fi
  local mirror root
  mirror=$(apt_mirror)
  [ -n "$mirror" ] || die "the apt sources of this machine name no mirror of Debian $base_suite"

  root=$cache/base.root
  remove_dir "$root"
  mkdir -p "$root"
  debootstrap --variant=minbase --include="$base_packages" "$base_suite" "$root" "$mirror" \
    >"$cache/debootstrap.log" 2>&1 </dev/null || {
    tail -n 20 "$cache/debootstrap.log" >&2
    die "debootstrap failed; the log is $cache/debootstrap.log"
  }
  # Device nodes cannot be made without root, and containers get their own. The
  # rest is dead weight, which some storage drivers copy for every container.
  tar -C "$root" --numeric-owner -cf "$base_tar.new" \
    --exclude='./dev/*' \
    --exclude='./var/cache/apt/*' --exclude='./var/lib/apt/lists/*' \
    --exclude='./usr/share/doc/*' --exclude='./usr/share/man/*' --exclude='./usr/share/locale/*' \
    .
  mv "$base_tar.new" "$base_tar"
  printf '%s\n' "$recipe" >"$base_tar.recipe"
  remove_dir "$root"
}

# apt itself reads the sources, so either of their formats will do. Nothing has
# to be downloaded for it (--no-release-info).
apt_mirror() {
  # shellcheck disable=SC2016 # apt fills in these
  apt-get indextargets --no-release-info --format '$(RELEASE) $(COMPONENT) $(REPO_URI)' 'Created-By: Packages' |
    awk -v suite="$base_suite" '$1 == suite && $2 == "main" && $3 ~ /^(https?|file):/ && !found { print $3; found = 1 }'
}

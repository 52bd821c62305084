# Sourced after paths.sh: what comes from the machine's own Debian archive.
# shellcheck shell=bash disable=SC2154

# install_missing COMMAND=PACKAGE...: none of these starts a service.
install_missing() {
  local pair packages=()
  for pair; do command -v "${pair%%=*}" >/dev/null || packages+=("${pair#*=}"); done
  [ "${#packages[@]}" -gt 0 ] || return 0
  need_root
  say "installing ${packages[*]}"
  mkdir -p "$logs"
  export DEBIAN_FRONTEND=noninteractive
  local apt=(apt-get -q -y -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3)
  { "${apt[@]}" update && "${apt[@]}" install --no-install-recommends "${packages[@]}"; } \
    </dev/null >"$logs/install.log" 2>&1 || die_with_log "$logs/install.log" "could not install ${packages[*]}"
}

# apt with lists and a cache of its own, which reads the machine's sources and
# the source packages of the same archives: the machine's configuration stays as
# it is, and no archive is named here.
private_apt() {
  apt-get -qq -o Dir::Etc::SourceList=/dev/null -o Dir::Etc::SourceParts="$build/apt/sources" \
    -o APT::Sandbox::User=root -o Dir::State::Lists="$build/apt/lists" -o Dir::Cache="$build/apt/cache" \
    -o Acquire::Retries=3 "$@" >&2
}

prepare_private_apt() {
  local list parts file
  eval "$(apt-config shell list Dir::Etc::sourcelist/f parts Dir::Etc::sourceparts/d)"
  mkdir -p "$build"/apt/{sources,lists/partial,cache/archives/partial}
  for file in "$list" "$parts"/*.list "$parts"/*.sources; do
    [ -f "$file" ] || continue
    case $file in
      *.sources) sed -E 's/^Types:.*/Types: deb deb-src/' "$file" >"$build/apt/sources/${file##*/}" ;;
      *) sed -nE 's/^deb([[:space:]].*)/deb\1\ndeb-src\1/p' "$file" >"$build/apt/sources/${file##*/}.list" ;;
    esac
  done
  private_apt update || say "some package sources could not be read; trying with the others"
}

# Everything is unpacked below .cache and nothing installed, so no service
# starts and nothing conflicts.
fetch_packages() {
  local package
  mkdir -p "$build/packages" "$debian"
  prepare_private_apt
  (
    cd "$build/packages" &&
      private_apt download golang-1.19-go golang-1.19-src etcd-server containerd runc containernetworking-plugins &&
      private_apt source --download-only kubernetes
  ) || die "this machine's apt sources do not offer all packages: Debian 12 has them"
  for package in "$build"/packages/golang-*.deb; do dpkg-deb -x "$package" "$build/go"; done
  for package in "$build"/packages/{etcd-server,containerd,runc,containernetworking-plugins}_*.deb; do
    dpkg-deb -x "$package" "$debian"
  done
}

# Sourced: where everything of the test cluster lives and what it is called.
# shellcheck shell=bash disable=SC2034

kubernetes=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd -P)
checkout=$(cd -- "$kubernetes/../.." && pwd -P)
cache=$checkout/.cache/kubernetes

# What stays between clusters ...
bin=$cache/bin       # compiled from source
debian=$cache/debian # unpacked Debian packages
images=$cache/images # image archives
logs=$cache/logs     # of the last cluster, of the last build
build=$cache/build   # only while building
# ... and what belongs to a running one.
run=$cache/run
pki=$run/pki
admin=$cache/kubeconfig

# Where a machine sees $cache.
inside=/run/kubernetes-test
inside_path=$inside/bin:$inside/debian/usr/sbin:$inside/debian/usr/bin:/usr/sbin:/usr/bin:/sbin:/bin

# The first two numbers of all addresses. The default is reserved for
# benchmarks (RFC 2544). A running cluster keeps what it was started with.
network=${SANDDUNE_KUBERNETES_NETWORK:-198.18}
[ ! -s "$run/network" ] || network=$(<"$run/network")
host_ip=$network.0.1
control_ip=$network.0.10
link=sanddune${network/./-}

nodes=(1 2)
machines=(control node1 node2)
compiled=(kube-apiserver kube-controller-manager kube-scheduler kubelet)
pause_image=localhost/sanddune-pause:1
test_image=sanddune-test-base:bookworm
cgroup=sanddune-kubernetes-$(cksum <<<"$cache" | cut -d' ' -f1)

# Seconds that any one thing may take to become ready.
patience=180

# Daemons and helpers live in sbin, which is not on every caller's PATH.
export PATH="$PATH:/usr/local/sbin:/usr/sbin:/sbin"

say() { printf '%s: %s\n' "${0##*/}" "$*" >&2; }

die() {
  say "$@"
  exit 1
}

die_with_log() {
  say "last lines of $1:"
  tail -n 15 -- "$1" >&2 || true
  die "$2"
}

need_root() {
  [ "$(id -u)" = 0 ] || die "must run as root: namespaces, mounts and containers"
}

node_ip() { echo "$network.0.$((10 + $1))"; }

# kubectl as the cluster's administrator, past any proxy.
kube() {
  env -u HTTP_PROXY -u HTTPS_PROXY -u ALL_PROXY -u http_proxy -u https_proxy -u all_proxy \
    kubectl --kubeconfig "$admin" --cache-dir "$run/kubectl-cache" --request-timeout 10s "$@"
}

# Sourced after paths.sh: Kubernetes, from the source package of Debian 12.
# shellcheck shell=bash disable=SC2154

# In a subshell, for its environment and directory. One that was interrupted goes
# on where it was.
compile() (
  source=$(find "$build/packages" -name 'kubernetes_1.20*.orig.tar.*' -print -quit)
  [ -n "$source" ] || die "the apt sources have no Kubernetes 1.20, which is that of Debian 12"
  mkdir -p "$build"/{bin,tmp} "$logs"
  export GOROOT=$build/go/usr/lib/go-1.19 GOPATH=$build/gopath GOCACHE=$build/gocache TMPDIR=$build/tmp
  export GO111MODULE=off GOENV=off GOFLAGS='' CGO_ENABLED=0 PATH=$GOROOT/bin:$PATH
  tree=$GOPATH/src/k8s.io/kubernetes
  mkdir -p "$tree"
  cd "$tree"

  # Debian's patches touch nothing but kubectl's output: the upstream archive
  # will do.
  if [ ! -e .generated ]; then
    say "2/4 generating the OpenAPI definitions, which the archive lacks"
    tar -xf "$source" --strip-components=1
    generate_openapi >"$logs/build.log" 2>&1 || die_with_log "$logs/build.log" "openapi-gen failed"
    touch .generated
  fi

  say "3/4 compiling ${compiled[*]}, which takes minutes"
  version=${source##*/kubernetes_} version=${version%%.orig.*} version=${version##*really}
  flags='-s -w'
  for package in client-go/pkg/version component-base/version; do
    for variable in gitVersion="v$version" gitMajor=1 gitMinor=20 gitTreeState=clean; do
      flags+=" -X k8s.io/kubernetes/vendor/k8s.io/$package.$variable"
    done
  done
  nice go build -ldflags "$flags" -o "$build/bin/" "${compiled[@]/#/k8s.io/kubernetes/cmd/}"

  say "4/4 making the pause image"
  make_pause_image
)

generate_openapi() {
  local inputs
  nice go build -o "$build/openapi-gen" k8s.io/kubernetes/vendor/k8s.io/kube-openapi/cmd/openapi-gen
  inputs=$(grep -rl --include='*.go' '+k8s:openapi-gen=' staging/src/k8s.io pkg |
    grep -v -e '_test\.go' -e testdata -e code-generator -e sample- -e /examples/ | xargs -n1 dirname | sort -u |
    sed -e 's#^staging/src/#k8s.io/kubernetes/vendor/#' -e 's#^pkg/#k8s.io/kubernetes/pkg/#' | paste -sd,)
  nice "$build/openapi-gen" --logtostderr -i "$inputs" -p k8s.io/kubernetes/pkg/generated/openapi \
    -O zz_generated.openapi -h hack/boilerplate/boilerplate.generatego.txt -r "$build/api-violations"
}

# The process that holds a pod's namespaces: waits, reaps, ends on SIGTERM.
make_pause_image() {
  mkdir -p "$build/pause/root" "$images"
  cat >"$build/pause/pause.go" <<'GO'
package main

import (
	"os"
	"os/signal"
	"syscall"
)

func main() {
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGCHLD)
	for received := range signals {
		if received != syscall.SIGCHLD {
			return
		}
		for {
			if pid, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil); pid <= 0 || err != nil {
				break
			}
		}
	}
}
GO
  go build -ldflags '-s -w' -o "$build/pause/root/pause" "$build/pause/pause.go"
  tar --owner=0 --group=0 --numeric-owner -C "$build/pause/root" -cf "$build/pause/rootfs.tar" .
  pack_image "$build/pause/rootfs.tar" "$images/pause.tar" '{"Entrypoint":["/pause"]}' "$pause_image"
}

is_built() {
  local file
  for file in "${compiled[@]/#/$bin/}" "$debian"/usr/{bin/{etcd,containerd,ctr},sbin/runc,lib/cni/bridge} "$images/pause.tar"; do
    [ -s "$file" ] || return 1
  done
}

build_cluster() {
  install_missing ip=iproute2 openssl=openssl kubectl=kubernetes-client
  if is_built; then
    rm -rf -- "$build" # of one that was interrupted at its very end
    return 0
  fi
  local begin=$SECONDS program
  say "1/4 fetching Debian packages"
  fetch_packages
  compile
  for program in "$build/bin/kubelet" "$debian"/usr/{bin/{etcd,containerd},sbin/runc}; do
    "$program" --version >/dev/null || die "$program does not start on this machine"
  done
  mkdir -p "$bin"
  mv "$build"/bin/* "$bin/"
  rm -rf -- "$build"
  say "built in $((SECONDS - begin)) s"
}

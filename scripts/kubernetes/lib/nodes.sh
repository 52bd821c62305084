# Sourced after paths.sh, daemons.sh, network.sh and images.sh: what runs on a
# node.
# shellcheck shell=bash disable=SC2154

write_node_configuration() {
  local number=$1 to=$run/node$1 snapshotter=overlayfs
  [ "$(stat -f -c %T "$cache")" != overlayfs ] || snapshotter=native # overlay does not stack
  mkdir -p "$to/cni"
  # There is no DNS: names fail at once instead of timing out.
  echo "nameserver 127.0.0.1" >"$to/resolv.conf"
  cat >"$to/cni/10-pods.conflist" <<JSON
{"cniVersion": "0.4.0", "name": "pods", "plugins": [
  {"type": "bridge", "bridge": "cni0", "isGateway": true, "hairpinMode": true,
   "ipam": {"type": "host-local", "ranges": [[{"subnet": "$network.$number.0/24"}]], "routes": [{"dst": "0.0.0.0/0"}]}}]}
JSON
  # Without AppArmor: its profile would be loaded into the host's kernel, and stay.
  cat >"$to/containerd.toml" <<TOML
version = 2
[plugins."io.containerd.internal.v1.opt"]
  path = "/var/lib/containerd/opt"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "$pause_image"
  stream_server_address = "127.0.0.1"
  disable_apparmor = true
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "$inside/debian/usr/lib/cni"
    conf_dir = "$inside/run/node$number/cni"
  [plugins."io.containerd.grpc.v1.cri".containerd]
    snapshotter = "$snapshotter"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"
TOML
  # Images could not be pulled again: none is collected, and a full disk evicts
  # nobody.
  cat >"$to/kubelet.yaml" <<YAML
kind: KubeletConfiguration
apiVersion: kubelet.config.k8s.io/v1beta1
authentication: {anonymous: {enabled: false}, webhook: {enabled: false}, x509: {clientCAFile: $inside/run/pki/ca.crt}}
authorization: {mode: AlwaysAllow}
tlsCertFile: $inside/run/pki/node$number.crt
tlsPrivateKeyFile: $inside/run/pki/node$number.key
cgroupDriver: cgroupfs
cgroupRoot: /$cgroup/node$number
enforceNodeAllocatable: []
failSwapOn: false
makeIPTablesUtilChains: false
imageGCHighThresholdPercent: 100
evictionHard: {memory.available: 100Mi}
nodeStatusUpdateFrequency: 2s
resolvConf: $inside/run/node$number/resolv.conf
YAML
}

start_containerd() {
  local node=node$1
  start_machine "$node"
  connect_node "$1"
  [ -e "$run/$node/kubelet.yaml" ] || write_node_configuration "$1"
  start_daemon "$node" containerd --config "$inside/run/$node/containerd.toml"
}

start_kubelet() {
  local node=node$1
  wait_for "$patience" "containerd on $node" enter "$node" ctr version
  load_image "$node" "$images/pause.tar" "$pause_image"
  load_image "$node" "$images/test.tar" "docker.io/library/$test_image"
  start_daemon "$node" kubelet --config="$inside/run/$node/kubelet.yaml" --kubeconfig="$inside/run/pki/$node.kubeconfig" \
    --hostname-override="$node" --node-ip="$(node_ip "$1")" --volume-plugin-dir=/var/lib/volume-plugins \
    --container-runtime=remote --container-runtime-endpoint=unix:///run/containerd/containerd.sock
}

# In the eyes of the API server, which believes so for 40 s after a node's death,
# and really.
node_ready() {
  [ "$(kube get node "node$1" -o jsonpath='{.status.conditions[?(@.type=="Ready")].status}')" = True ] &&
    [ "$(kube get --raw "/api/v1/nodes/node$1/proxy/healthz")" = ok ]
}

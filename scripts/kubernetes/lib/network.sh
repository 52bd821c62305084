# Sourced after paths.sh and machines.sh: one bridge, in the control machine, to
# which the host and the nodes are connected. No machine has a default route, so
# no packet leaves for the outside.
# shellcheck shell=bash disable=SC2154

# The host's end of the network says whose it is: a second cluster with the same
# addresses is told who is in its way.
is_our_link() { [ "$(cat "/sys/class/net/$link/ifalias" 2>/dev/null)" = "$cache" ]; }

expect_free_network() {
  local choose="set SANDDUNE_KUBERNETES_NETWORK to another prefix"
  [ ! -e "/sys/class/net/$link" ] ||
    die "the network $network is used by the cluster in $(cat "/sys/class/net/$link/ifalias"): $choose"
  [ -z "$(ip -4 route show root "$network.0.0/16")" ] ||
    die "this host already has a route into $network.0.0/16: $choose"
}

connect_host() {
  local control
  [ ! -e "$run/control/connected" ] || return 0
  control=$(machine_pid control)
  enter control ip link add br0 type bridge
  enter control ip addr add "$control_ip/24" dev br0
  enter control ip link set br0 up
  ip link add "$link" type veth peer name host netns "$control"
  ip link set dev "$link" alias "$cache"
  ip addr add "$host_ip/24" dev "$link"
  # The host has no way back to the pods, and would answer them by its default
  # route: their packets are dropped instead.
  echo 1 >"/proc/sys/net/ipv4/conf/$link/rp_filter"
  ip link set "$link" up
  enter control ip link set host master br0 up
  touch "$run/control/connected"
}

connect_node() {
  local number=$1 node other
  [ ! -e "$run/node$number/connected" ] || return 0
  node=$(machine_pid "node$number")
  enter control ip link delete "node$number" 2>/dev/null || true # of a machine that died a moment ago
  nsenter --target "$(machine_pid control)" --net -- ip link add "node$number" type veth peer name eth0 netns "$node"
  enter control ip link set "node$number" master br0 up
  enter "node$number" ip addr add "$(node_ip "$number")/24" dev eth0
  enter "node$number" ip link set eth0 up
  for other in "${nodes[@]}"; do
    [ "$other" = "$number" ] || enter "node$number" ip route add "$network.$other.0/24" via "$(node_ip "$other")"
  done
  touch "$run/node$number/connected"
}

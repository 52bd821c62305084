# Sourced after paths.sh and daemons.sh: what runs on the control machine.
# shellcheck shell=bash disable=SC2154

start_control_plane() {
  local pki=$inside/run/pki
  # etcd's files are in memory: quick, and they end with the machine anyway.
  start_daemon control etcd --data-dir /run/etcd \
    --listen-client-urls http://127.0.0.1:2379 --advertise-client-urls http://127.0.0.1:2379 \
    --listen-peer-urls http://127.0.0.1:2380
  start_daemon control kube-apiserver --etcd-servers=http://127.0.0.1:2379 \
    --bind-address="$control_ip" --advertise-address="$control_ip" --secure-port=6443 --insecure-port=0 \
    --tls-cert-file="$pki/kube-apiserver.crt" --tls-private-key-file="$pki/kube-apiserver.key" \
    --client-ca-file="$pki/ca.crt" --kubelet-certificate-authority="$pki/ca.crt" \
    --kubelet-preferred-address-types=InternalIP \
    --kubelet-client-certificate="$pki/kubelet-client.crt" --kubelet-client-key="$pki/kubelet-client.key" \
    --service-account-key-file="$pki/service-accounts.key" \
    --service-account-signing-key-file="$pki/service-accounts.key" \
    --service-account-issuer=https://kubernetes.default --service-cluster-ip-range="$network.128.0/20" \
    --authorization-mode=Node,RBAC --allow-privileged=true --endpoint-reconciler-type=none
  wait_for "$patience" kube-apiserver kube get --raw /readyz
  start_daemon control kube-controller-manager --kubeconfig="$pki/admin.kubeconfig" --leader-elect=false \
    --port=0 --bind-address=127.0.0.1 --cert-dir=/run/kube-controller-manager --root-ca-file="$pki/ca.crt" \
    --service-account-private-key-file="$pki/service-accounts.key" --use-service-account-credentials=true \
    --flex-volume-plugin-dir=/var/lib/volume-plugins
  start_daemon control kube-scheduler --kubeconfig="$pki/admin.kubeconfig" --leader-elect=false \
    --port=0 --bind-address=127.0.0.1 --cert-dir=/run/kube-scheduler
}

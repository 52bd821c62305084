# Sourced after paths.sh: certificates and kubeconfigs, new for every cluster.
# shellcheck shell=bash disable=SC2154

# issue NAME SUBJECT ALTERNATIVE-NAMES
issue() {
  local name=$1 subject=$2 names=$3
  openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj "$subject" \
    -keyout "$pki/$name.key" -out "$pki/$name.csr"
  openssl x509 -req -days 3650 -in "$pki/$name.csr" -CA "$pki/ca.crt" -CAkey "$pki/ca.key" -CAcreateserial \
    -out "$pki/$name.crt" -extfile <(printf 'subjectAltName=%s\nextendedKeyUsage=serverAuth,clientAuth\n' "$names")
  cat >"$pki/$name.kubeconfig" <<YAML
apiVersion: v1
kind: Config
clusters:
- name: sanddune
  cluster:
    server: https://$control_ip:6443
    certificate-authority-data: $(base64 -w0 "$pki/ca.crt")
users:
- name: $name
  user:
    client-certificate-data: $(base64 -w0 "$pki/$name.crt")
    client-key-data: $(base64 -w0 "$pki/$name.key")
contexts:
- name: sanddune
  context: {cluster: sanddune, user: $name}
current-context: sanddune
YAML
}

make_certificates() {
  [ ! -e "$admin" ] || return 0
  local number
  mkdir -p "$pki"
  chmod 700 "$pki"
  {
    openssl req -x509 -days 3650 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj /CN=sanddune-kubernetes \
      -keyout "$pki/ca.key" -out "$pki/ca.crt"
    openssl ecparam -genkey -noout -name prime256v1 -out "$pki/service-accounts.key"
    issue kube-apiserver /CN=kube-apiserver "DNS:kubernetes,DNS:localhost,IP:127.0.0.1,IP:$control_ip,IP:$network.128.1"
    issue kubelet-client /O=system:masters/CN=kube-apiserver-kubelet-client DNS:kubelet-client
    issue admin /O=system:masters/CN=admin DNS:admin
    # May do nothing but what everybody may.
    issue guest /CN=guest DNS:guest
    for number in "${nodes[@]}"; do
      issue "node$number" "/O=system:nodes/CN=system:node:node$number" "DNS:node$number,IP:$(node_ip "$number")"
    done
  } >"$logs/openssl.log" 2>&1
  chmod 600 "$pki"/*
  cp -p "$pki/admin.kubeconfig" "$admin"
}

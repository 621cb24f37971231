# A registry with TLS on the loopback of the machine, with an image that serves a page. It stands for a registry on the network,
# which the machine does not have. Sourced by try-setup.
# shellcheck shell=bash

readonly REGISTRY=registry.example.com:5000
# Docker reads the authority of a registry here.
readonly REGISTRY_CA="/etc/docker/certs.d/$REGISTRY/ca.crt"
registry_pid=

start_registry() {
  local folder="$MACHINE/registry" root="$MACHINE/root"
  mkdir -p "$folder" "$(dirname "$root$REGISTRY_CA")" || return 1
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 3650 -subj '/CN=registry' \
    -addext "subjectAltName=DNS:${REGISTRY%:*},DNS:localhost" -keyout "$folder/key.pem" -out "$folder/cert.pem" 2>&1 || return 1
  install -m 644 "$folder/cert.pem" "$root$REGISTRY_CA" && echo "127.0.0.1 ${REGISTRY%:*}" >>"$root/etc/hosts" || return 1
  cat >"$folder/config.yml" <<EOF
{version: "0.1", log: {level: error}, storage: {filesystem: {rootdirectory: "$folder/data"}},
 http: {addr: "127.0.0.1:${REGISTRY#*:}", tls: {certificate: "$folder/cert.pem", key: "$folder/key.pem"}}}
EOF
  nsenter --target "$leader" --net -- docker-registry serve "$folder/config.yml" >"$folder/log" 2>&1 &
  registry_pid=$!
  until_true 30 registry_answers && push_page
}

registry_answers() { in_network curl --silent --fail --cacert "$MACHINE/registry/cert.pem" "https://localhost:${REGISTRY#*:}/v2/"; }

push_page() {
  NODE_EXTRA_CA_CERTS="$MACHINE/registry/cert.pem" in_network node_modules/.bin/node \
    scripts/package/push-page.ts "https://localhost:${REGISTRY#*:}"
}

stop_registry() {
  [[ -n $registry_pid ]] || return 0
  kill "$registry_pid" 2>/dev/null || true
  wait "$registry_pid" 2>/dev/null || true
}

# A command of this machine, in the network of the other.
in_network() { nsenter --target "$leader" --net -- "$@"; }

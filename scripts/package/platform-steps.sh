# The platform of try-setup and try-guides: packages, setup and login. Sourced after URL is set.
# shellcheck shell=bash

readonly UNITS=(holdfast-etcd holdfast-vault holdfast-broker holdfast-server)

install_everything() {
  operator 'apt-get install --yes --no-install-recommends ./holdfast-*.deb docker.io iptables btrfs-progs' &&
    nothing_runs
}

nothing_runs() {
  local unit
  for unit in "${UNITS[@]}" "${NODE_UNITS[@]}"; do
    ! in_machine systemctl is-active --quiet "$unit" || fail "$unit runs before it is configured" || return 1
  done
}

setup() { in_machine holdfast-server setup --single --public-url "$URL" "$@"; }

# The credentials stay in folders that only root can read, not in the log.
set_up() {
  local more="--tenant acme --registry $REGISTRY --registry-ca $REGISTRY_CA"
  operator "holdfast-server setup --single --public-url $URL $more" >"$MACHINE/credentials.json" || return 1
  (umask 077 && credential unsealKey >"$MACHINE/root/root/unseal-key" && credential token >"$MACHINE/root/root/token")
}

credential() { sed -n "s/^ *\"$1\": \"\(.*\)\",\{0,1\}$/\1/p" "$MACHINE/credentials.json" | grep .; }

log_in() { operator "holdfast login --url $URL --ca-file /etc/holdfast/pki/ca.pem --tenant acme --token-stdin <token"; }

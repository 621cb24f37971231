# The node of try-setup: join token, enrollment, a deployment with a route, and a container that writes a volume. Sourced by
# try-setup.
# shellcheck shell=bash

readonly NODE=fra-1
readonly NODE_UNITS=(holdfast-agent holdfast-fencer holdfast-caddy)
readonly NODE_DATA=(/etc/holdfast/agent.env /var/lib/holdfast-agent/node.json /var/lib/holdfast-caddy/config.json)
readonly POOL=/var/lib/holdfast-pool.img
readonly RIGHTS=/etc/systemd/system/holdfast-agent.service.d
readonly PEER=127.0.0.1:8081

issue_join_token() { operator "holdfast node join-token $NODE" >"$MACHINE/join-command"; }

enroll() {
  operator "$(<"$MACHINE/join-command") --start --peer-address $PEER" && until_true 30 node_is_ready || explain holdfast-agent
}

node_is_ready() { in_machine holdfast get nodes | grep -Eq "^$NODE +ready"; }

deploy() {
  write_manifest hello <<EOF
kind: Deployment
name: hello
image: $REGISTRY/samples/hello:1.0
replicas: 1
healthCheck:
  type: exec
  command: ["test -s /www/index.html"]
  interval: 5s
  timeout: 10s
routes:
  - host: hello.example.com
    path: /
    port: 8080
EOF
  operator 'holdfast apply -f hello.yaml --wait'
}

write_manifest() { cat >"$MACHINE/root/root/$1.yaml"; }

page_is_served() {
  in_network curl --silent --fail --max-time 5 --header 'Host: hello.example.com' http://127.0.0.1/ | grep -qx 'samples/hello:1.0'
}

# The volume is a mount of the whole machine: systemd and the engine see it, and it stays while the agent restarts.
volume() {
  local container
  enable_volumes && apply_volume || explain holdfast-agent || return 1
  container="$(in_machine docker ps --quiet --filter name=notes)"
  in_machine docker exec "$container" sh -c 'echo kept >/notes/kept' && is_mounted || return 1
  in_machine systemctl restart holdfast-agent || return 1
  until_true 30 node_is_ready && is_mounted || return 1
  [[ $(in_machine docker ps --quiet --filter name=notes) == "$container" ]] || fail 'the container was replaced' || return 1
  [[ $(in_machine docker exec "$container" cat /notes/kept) == kept ]] || fail 'the data is lost'
}

enable_volumes() {
  local file
  for file in server broker; do printf 'volumes:\n  enabled: true\n' >>"$MACHINE/root/etc/holdfast/$file.yaml"; done
  echo "OPTIONS=--peer-address $PEER --pool $POOL:256Mi" >"$MACHINE/root/etc/holdfast/agent.env"
  mkdir -p "$MACHINE/root$RIGHTS" && ln -s /usr/lib/holdfast-agent/holdfast-agent-pool.conf "$MACHINE/root$RIGHTS/pool.conf" || return 1
  in_machine systemctl daemon-reload && in_machine systemctl restart holdfast-broker holdfast-server holdfast-agent && until_true 30 node_is_ready
}

apply_volume() {
  write_manifest notes <<EOF
kind: Volume
name: notes
class: replicated
size: 64Mi
replicas: 0
---
kind: Deployment
name: notes
image: $REGISTRY/samples/hello:1.0
replicas: 1
volumes:
  - volume: notes
    target: /notes
    type: volume
    readOnly: false
EOF
  in_machine holdfast apply -f /root/notes.yaml --wait
}

# The agent is away, and the lease of the volume ends: the fencer alone ends the writer and unmounts the volume for the whole
# machine. The agent then starts the writer again.
fence() {
  in_machine systemctl stop holdfast-agent && in_machine sh -c "$END_LEASE" || return 1
  until_true 20 writer_is_gone || explain holdfast-fencer || return 1
  in_machine systemctl start holdfast-agent && until_true 30 writes_again || explain holdfast-agent
}

readonly END_LEASE='cd /run/holdfast-fencer && umask 077 &&
  end=$(awk "{ printf \"%d\", \$1 * 1000 + 2500 }" /proc/uptime) &&
  sed "s/\"leaseEndMs\":null/\"leaseEndMs\":$end/" deadlines.json >deadlines.new && mv deadlines.new deadlines.json'

writer_is_gone() {
  [[ -z $(in_machine docker ps --quiet --filter name=notes) ]] && ! in_machine grep -q ' /volumes/' /proc/1/mountinfo
}

writes_again() { [[ $(in_machine docker exec notes cat /notes/kept 2>/dev/null) == kept ]]; }

is_mounted() {
  in_machine grep -q ' /volumes/.* /var/lib/holdfast-agent/volumes/.* btrfs ' /proc/1/mountinfo ||
    fail 'the machine does not have the mount of the volume'
}

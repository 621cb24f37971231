# An empty Debian 12 with systemd in a container without a network: start_machine, in_machine, stop_machine. A Docker Engine
# and pools on loop devices run in it. Sourced by scripts that set MACHINE to a folder of its own.
# shellcheck shell=bash

readonly ROOT_CACHE="${HOLDFAST_ENGINES:-$HOME/.cache/holdfast}/debian-12-machine-2"
readonly MIRROR="${DEBIAN_MIRROR:-http://deb.debian.org/debian}"
# The dependencies of the packages, and Debian's Docker. apt finds them in its archive, because the machine has no network.
readonly ARCHIVE=(openssl ca-certificates docker.io iptables btrfs-progs)
# Where this machine has the controllers of cgroup v1.
readonly CONTROLLERS=/sys/fs/cgroup
readonly RT_MICROSECONDS=50000
machine_pid= leader=

# The root file system is made once. It gets its name when it is complete, and a second run waits for the first.
make_root() {
  mkdir -p "$(dirname "$ROOT_CACHE")"
  (flock 9 && debootstrap_root) 9>"$ROOT_CACHE.lock"
}

debootstrap_root() {
  if [[ -d $ROOT_CACHE ]]; then return 0; fi
  local building="$ROOT_CACHE.building"
  rm -rf "$building" && mkdir -p "$building" || return 1
  debootstrap --variant=minbase --include=systemd,systemd-sysv bookworm "$building" "$MIRROR" || return 1
  # An empty file: a missing one would make systemd enable all units at the first boot, as no installed Debian does.
  : >"$building/etc/machine-id"
  rm -f "$building/var/cache/apt/archives"/*.deb
  echo debian >"$building/etc/hostname"
  # As the installer of Debian writes it.
  printf '127.0.0.1\tlocalhost\n127.0.1.1\tdebian\n' >"$building/etc/hosts"
  chroot "$building" apt-get update &&
    chroot "$building" apt-get install --yes --download-only --no-install-recommends "${ARCHIVE[@]}" &&
    mv -T "$building" "$ROOT_CACHE"
}

# start_machine PACKAGES [OPTION...]: boots a copy of the root file system, with the packages of a folder in /root. The options are
# systemd-nspawn's.
start_machine() {
  local packages="$1" unit=() devices=()
  shift
  cp -a --reflink=auto "$ROOT_CACHE" "$MACHINE/root" && cp "$packages"/*.deb "$MACHINE/root/root/" || return 1
  # As in Debian's images of containers: the machine is thrown away, so dpkg need not wait for the disk.
  echo force-unsafe-io >"$MACHINE/root/etc/dpkg/dpkg.cfg.d/unsafe-io" || return 1
  # Without systemd on this machine there is no unit to create.
  [[ -d /run/systemd/system ]] || unit=(--keep-unit)
  for device in /dev/kmsg /dev/loop-control /dev/btrfs-control; do devices+=("--bind=$device"); done
  (
    enter_cgroups
    # Docker uses the kernel's keyring and its filters of devices.
    exec systemd-nspawn --quiet --directory="$MACHINE/root" --machine="$(basename "$MACHINE")" --boot --register=no \
      "${unit[@]}" --private-network --capability=all --bind=/sys/fs/btrfs --system-call-filter='add_key keyctl bpf' "${devices[@]}" \
      "$@" --console=pipe </dev/null >"$MACHINE/console.log" 2>&1
  ) &
  machine_pid=$!
  until_true 180 is_booted || { tail -n 20 "$MACHINE/console.log"; return 1; }
  open_cgroups && add_loop_devices
}

# The kernel numbers loop devices for this machine and its containers together, and only this machine gets their files.
add_loop_devices() {
  local number
  for number in {0..63}; do
    in_machine mknod "/dev/loop$number" b 7 "$number" || return 1
  done
}

# cgroups of its own in every controller of version 1, which the containers of the machine are below.
enter_cgroups() {
  local folder file
  for folder in $(controllers); do
    mkdir "$folder/$(basename "$MACHINE")" || return 1
    for file in "$folder"/cpuset.{cpus,mems}; do
      [[ ! -e $file ]] || cat "$file" >"$folder/$(basename "$MACHINE")/$(basename "$file")"
    done
    # A group without real-time budget would refuse the scheduling of the fencer.
    [[ ! -e $folder/cpu.rt_runtime_us ]] || echo "$RT_MICROSECONDS" >"$folder/$(basename "$MACHINE")/cpu.rt_runtime_us"
    echo "$BASHPID" >"$folder/$(basename "$MACHINE")/cgroup.procs"
  done
}

controllers() {
  local folder
  for folder in "$CONTROLLERS"/*/; do
    [[ -L ${folder%/} || $folder == */systemd/ || $folder == */unified/ || ! -e $folder/cgroup.procs ]] || echo "${folder%/}"
  done
}

# systemd-nspawn mounts the controllers of version 1 read-only, because its systemd does not use them. Docker does.
open_cgroups() {
  local folder
  for folder in $(controllers); do
    in_machine mount -o remount,bind,rw "$folder" || return 1
  done
}

# The container's first process is the only child of systemd-nspawn.
is_booted() {
  kill -0 "$machine_pid" || return 1
  leader="$(pgrep --parent "$machine_pid" | head -n 1)"
  [[ -n $leader && $(in_machine systemctl is-system-running 2>&1) =~ ^(running|degraded)$ ]]
}

# in_machine COMMAND...: runs a command as root would in a shell of the machine.
in_machine() {
  nsenter --target "$leader" --mount --uts --ipc --net --pid --cgroup --root --wd -- \
    env --ignore-environment PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root DEBIAN_FRONTEND=noninteractive "$@"
}

stop_machine() {
  local attempt
  [[ -n $machine_pid ]] || return 0
  # systemd-nspawn shuts the machine down when it gets SIGTERM.
  kill "$machine_pid" 2>/dev/null || true
  for ((attempt = 0; attempt < 900; attempt++)); do
    kill -0 "$machine_pid" 2>/dev/null || break
    sleep 0.1
  done
  kill -KILL "$machine_pid" 2>/dev/null || true
  wait "$machine_pid" 2>/dev/null || true
  remove_cgroups
}

# systemd-nspawn leaves the cgroups of enter_cgroups and, with --keep-unit, two below the one of this process.
remove_cgroups() {
  local line folder
  for folder in $(controllers); do
    find "$folder/$(basename "$MACHINE")" -depth -type d -exec rmdir {} + 2>/dev/null || true
  done
  [[ ! -d /run/systemd/system ]] || return 0
  while IFS=: read -r _ name line; do
    for folder in /sys/fs/cgroup/{,unified/,${name#name=}/}; do
      find "$folder${line#/}"/{payload,supervisor} -depth -type d -exec rmdir {} + 2>/dev/null || true
    done
  done </proc/self/cgroup
}

# until_true SECONDS COMMAND...
until_true() {
  local deadline=$((SECONDS + $1))
  shift
  until "$@"; do
    if ((SECONDS > deadline)); then echo "still false: $*"; return 1; fi
    sleep 0.2
  done
}

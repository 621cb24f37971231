// Members of a service that no manifest can express, each with the reason and the next step.

import type { Refusals } from '../members.ts'

type Refusal = readonly [why: string, next?: string]

const PRIVILEGES: Refusal = [
  'Containers run without extra privileges.',
  'Change the program so that it does not need them.',
]
const RESTRICTION: Refusal = [
  'Holdfast has no field for it, so the container runs without this restriction.',
  'Build the restriction into the image.',
]
const KERNEL: Refusal = ['Settings of the kernel are those of the machine.']
const DEVICES: Refusal = ['Containers get no devices of a machine.']
const NAMESPACE: Refusal = ['A container has namespaces of its own.']
const CPU: Refusal = ['CPU is requested and limited in cores.', 'Use deploy.resources.']
const MEMORY: Refusal = ['Memory is requested and limited in bytes; there is no other setting.']
const FILES: Refusal = [
  'Files are not delivered to containers.',
  'Add the file to the image, or use environment.',
]
const RESOLVER: Refusal = [
  'Names are resolved by the engine of the node.',
  'Use names that the resolver of the node knows.',
]
const TERMINAL: Refusal = [
  'Containers of a deployment have no terminal.',
  'Use holdfast exec for a terminal.',
]
const IMAGE: Refusal = ['The image decides it.', 'Set it in the image.']
const PULLED: Refusal = ['An image is pinned to a digest, and pulled if a node does not have it.']
const LOCAL: Refusal = ['It is for development on one machine.']
const NAMES: Refusal = [
  'Containers are named after their deployment, and other containers reach them by that name.',
  'Use the name of the deployment as the host.',
]
const HOOKS: Refusal = ['Containers have no hooks.', 'Do the work in the program of the container.']
const OTHER_CONTAINERS: Refusal = [
  'Only containers of the platform reach one another by name.',
  'Use an address or a public name.',
]

const repeated = (refusal: Refusal, ...keys: readonly string[]): Refusals =>
  Object.fromEntries(keys.map((key) => [key, refusal]))

export const REFUSED_MEMBERS: Refusals = {
  ...repeated(PRIVILEGES, 'cap_add', 'group_add', 'credential_spec', 'use_api_socket', 'userns_mode'),
  ...repeated(RESTRICTION, 'cap_drop', 'security_opt', 'user', 'isolation', 'runtime'),
  ...repeated(KERNEL, 'sysctls', 'ulimits', 'shm_size', 'oom_kill_disable', 'oom_score_adj', 'storage_opt'),
  ...repeated(DEVICES, 'devices', 'device_cgroup_rules', 'gpus', 'blkio_config'),
  ...repeated(NAMESPACE, 'ipc', 'pid', 'uts', 'cgroup', 'cgroup_parent'),
  ...repeated(CPU, 'cpu_count', 'cpu_percent', 'cpu_shares', 'cpu_quota', 'cpu_period', 'cpuset'),
  ...repeated(CPU, 'cpu_rt_period', 'cpu_rt_runtime'),
  ...repeated(MEMORY, 'mem_swappiness', 'memswap_limit', 'pids_limit'),
  ...repeated(FILES, 'configs', 'label_file', 'volumes_from'),
  ...repeated(RESOLVER, 'dns', 'dns_opt', 'dns_search', 'extra_hosts', 'domainname', 'mac_address'),
  ...repeated(TERMINAL, 'tty', 'stdin_open'),
  ...repeated(IMAGE, 'working_dir', 'stop_signal', 'platform', 'annotations'),
  ...repeated(PULLED, 'pull_policy', 'pull_refresh_after'),
  ...repeated(LOCAL, 'develop', 'attach'),
  ...repeated(NAMES, 'container_name', 'hostname'),
  ...repeated(HOOKS, 'post_start', 'pre_stop'),
  external_links: OTHER_CONTAINERS,
  models: ['Holdfast runs no models.'],
  logging: ['The node keeps the output of containers.', 'Use holdfast logs.'],
}

/** Members that ask for something when they are true. False is what Holdfast does, so it is carried over. */
export const REFUSED_IF_TRUE: Refusals = {
  privileged: PRIVILEGES,
  read_only: RESTRICTION,
  init: [
    'The program of the image is the first process of the container.',
    'Add an init program to the image.',
  ],
}

// Finds unsafe settings in the body of a create call or in an inspected container. A setting that this file does not list
// must be empty, so a new engine option is unsafe until it is reviewed. An existing container is removed only for the
// settings in DANGERS: other differences are harmless, for example if an operator pins the container to a core. See
// docs/design/agent.md#container-settings.

import type { ContainerTemplate } from '@holdfast/contract'
import {
  cgroupParent,
  isStartedByAgent,
  type MountBody,
  type MountPlaces,
  mountBodies,
} from './container-mounts.ts'
import { CAPABILITIES, LOG_ROTATION, NO_NEW_PRIVILEGES, PIDS_LIMIT } from './container-settings.ts'

type Check = (value: unknown) => boolean
interface Settings {
  readonly [name: string]: unknown
}

/** The part of Docker's inspect response, or of a create body, that determines what a container may do. */
export interface InspectedSettings {
  readonly HostConfig: Settings
  /** The container's mounts, from an inspect response. Absent in a create body. */
  readonly Mounts?: readonly unknown[]
  readonly NetworkSettings?: { readonly Networks?: Settings }
}

const one =
  (...allowed: readonly unknown[]): Check =>
  (value) =>
    allowed.includes(value)
const listOf =
  (allowed: readonly string[]): Check =>
  (value) =>
    isList(value) && value.every((entry) => typeof entry === 'string' && allowed.includes(entry))
const amount: Check = (value) => typeof value === 'number' && Number.isInteger(value) && value >= 0

const MASKED = ['/proc/kcore', '/proc/keys', '/proc/timer_list', '/sys/firmware']
const READ_ONLY = ['/proc/bus', '/proc/fs', '/proc/irq', '/proc/sys', '/proc/sysrq-trigger']

/** Container settings that must be present and pass their check. */
const REQUIRED: { readonly [name: string]: Check } = {
  CapDrop: (value) => isList(value) && value.includes('ALL'),
  SecurityOpt: (value) =>
    isList(value) && value.length > 0 && listOf([NO_NEW_PRIVILEGES, `${NO_NEW_PRIVILEGES}:true`])(value),
  PidsLimit: (value) => amount(value) && Number(value) > 0 && Number(value) <= PIDS_LIMIT,
  IpcMode: one('private'),
  LogConfig: isRotatedLog,
}

/** Container settings that may be absent, but must pass their check if they are present. */
const ALLOWED: { readonly [name: string]: Check } = {
  CapAdd: (value) => isEmpty(value) || listOf(CAPABILITIES.flatMap((name) => [name, `CAP_${name}`]))(value),
  RestartPolicy: (value) => isSettings(value) && one('', 'no', 'unless-stopped')(value.Name),
  Memory: amount,
  MemorySwap: (value) => amount(value) || value === -1,
  MemoryReservation: amount,
  CpuPeriod: amount,
  CpuQuota: amount,
  NanoCpus: amount,
  CpuShares: amount,
  ShmSize: amount,
  MaskedPaths: hasAll(MASKED),
  ReadonlyPaths: hasAll(READ_ONLY),
  // Docker chooses the mode of the cgroup namespace: `host` on a machine with cgroups v1.
  CgroupnsMode: one('', 'host', 'private'),
  Runtime: one('', 'runc', 'io.containerd.runc.v2'),
  ConsoleSize: isConsole,
  Isolation: one('', 'default'),
  MemorySwappiness: one(null, -1),
}

/**
 * Settings that can affect the machine outside of a container: privileges, namespaces, devices, mounts and Docker's own
 * protections.
 */
const DANGERS: readonly string[] = [
  'Privileged',
  'CapAdd',
  'CapDrop',
  'NetworkMode',
  'PidMode',
  'IpcMode',
  'UTSMode',
  'UsernsMode',
  'CgroupnsMode',
  'Devices',
  'DeviceCgroupRules',
  'DeviceRequests',
  'Sysctls',
  'Binds',
  'Mounts',
  'VolumesFrom',
  'SecurityOpt',
  // A security option that unmasks paths is visible only in MaskedPaths and ReadonlyPaths of an inspect response.
  'MaskedPaths',
  'ReadonlyPaths',
]

/**
 * Settings that keep the engine from starting a container with volumes, and its processes below the cgroup of its writer.
 * With others, a second writer of the volume could start.
 */
const VOLUME_DANGERS: readonly string[] = ['RestartPolicy', 'CgroupParent']

/** The parts of its own that a container may have, beyond the settings of every container. */
export interface OwnParts {
  /** The engine's names of its networks, the one on which it is created first. */
  readonly networks: readonly string[]
  readonly mounts: readonly MountBody[]
  readonly isStartedByAgent: boolean
  /** The possible cgroup parents of a writer, one for each driver; empty for other containers. */
  readonly cgroupParents: readonly string[]
}

export const ownParts = (
  template: ContainerTemplate,
  networks: readonly string[],
  places: MountPlaces,
): OwnParts => ({
  networks,
  mounts: mountBodies(template, places),
  isStartedByAgent: isStartedByAgent(template),
  cgroupParents: (['cgroupfs', 'systemd'] as const).flatMap(
    (driver) => cgroupParent(template, places, driver) ?? [],
  ),
})

/** Returns the unsafe settings that are reason enough to remove a container that exists. */
export const findDangers = (container: InspectedSettings, own: OwnParts): string[] =>
  findUnsafeSettings(container, own).filter(
    (name) => DANGERS.includes(name) || (own.isStartedByAgent && VOLUME_DANGERS.includes(name)),
  )

/** Returns the names of a container's unsafe settings; empty for a safe container. */
export function findUnsafeSettings(container: InspectedSettings, own: OwnParts): string[] {
  const { HostConfig } = container
  const missing = Object.entries(REQUIRED)
    .filter(([name, holds]) => !holds(HostConfig[name]))
    .map(([name]) => name)
  const beyond = Object.entries(HostConfig)
    .filter(([name, value]) => !Object.hasOwn(REQUIRED, name) && !isHarmless(name, value, own))
    .map(([name]) => name)
  return [
    ...new Set([
      ...missing,
      ...beyond,
      ...findMisplaced(HostConfig, own),
      ...findForeignParts(container, own),
    ]),
  ]
}

function isHarmless(name: string, value: unknown, own: OwnParts): boolean {
  if (name === 'NetworkMode') return value === own.networks[0]
  if (name === 'Mounts' || name === 'CgroupParent') return true
  return (Object.hasOwn(ALLOWED, name) ? ALLOWED[name] : isEmpty)?.(value) ?? false
}

/** Finds settings that depend on the mounts of the template, whether they are present or not. */
function findMisplaced({ Mounts, CgroupParent, RestartPolicy }: Settings, own: OwnParts): string[] {
  const isOwnCgroup =
    own.cgroupParents.length === 0 ? isEmpty(CgroupParent) : own.cgroupParents.includes(String(CgroupParent))
  const mayRestart = !own.isStartedByAgent || (isSettings(RestartPolicy) && one('', 'no')(RestartPolicy.Name))
  return [
    ...(isOwnList(Mounts, own.mounts) ? [] : ['Mounts']),
    ...(isOwnCgroup ? [] : ['CgroupParent']),
    ...(mayRestart ? [] : ['RestartPolicy']),
  ]
}

/** Whether the configured mounts are exactly the expected ones. */
function isOwnList(configured: unknown, expected: readonly MountBody[]): boolean {
  if (isEmpty(configured)) return expected.length === 0
  return (
    isList(configured) &&
    configured.length === expected.length &&
    expected.every((mount) => configured.some((one) => isSame(one, mount)))
  )
}

/** Whether a value has the expected members. Members that are not expected must be empty, also in nested objects. */
function isSame(value: unknown, expected: unknown): boolean {
  if (!isSettings(expected)) return value === expected || (isEmpty(value) && isEmpty(expected))
  if (!isSettings(value)) return false
  const names = new Set([...Object.keys(value), ...Object.keys(expected)])
  return [...names].every((name) => isSame(value[name], expected[name]))
}

function findForeignParts({ Mounts = [], NetworkSettings }: InspectedSettings, own: OwnParts): string[] {
  const networks = Object.keys(NetworkSettings?.Networks ?? {})
  return [
    ...(Mounts.every((mount) => isOwnVolume(mount, own.mounts) || isOwnMount(mount, own.mounts))
      ? []
      : ['Mounts']),
    ...(networks.every((name) => own.networks.includes(name)) ? [] : ['Networks']),
  ]
}

/** Whether a mount of an inspected container is one of the expected mounts. */
function isOwnMount(mount: unknown, expected: readonly MountBody[]): boolean {
  if (!isSettings(mount) || !one(undefined, '', 'private', 'rprivate')(mount.Propagation)) return false
  const found = expected.find(({ Target }) => Target === mount.Destination)
  return (
    found !== undefined &&
    mount.Type === found.Type &&
    mount.RW === !found.ReadOnly &&
    (found.Type === 'tmpfs' ? isEmpty(mount.Source) : mount.Source === found.Source)
  )
}

/**
 * Whether a mount is an anonymous volume, which Docker creates for one container alone if the image declares a volume.
 */
function isOwnVolume(mount: unknown, expected: readonly MountBody[]): boolean {
  if (!isSettings(mount) || expected.some(({ Target }) => Target === mount.Destination)) return false
  const name = mount.Name
  return (
    mount.Type === 'volume' &&
    mount.Driver === 'local' &&
    typeof name === 'string' &&
    /^[0-9a-f]{64}$/.test(name)
  )
}

function isRotatedLog(value: unknown): boolean {
  if (!isSettings(value) || value.Type !== 'json-file' || !isSettings(value.Config)) return false
  const { Config } = value
  return Object.entries(LOG_ROTATION).every(([key, size]) => isSettings(Config) && Config[key] === size)
}

function hasAll(paths: readonly string[]): Check {
  // A create body has no lists of protected paths: Docker then uses its default lists.
  return (value) => value === undefined || (isList(value) && paths.every((path) => value.includes(path)))
}

function isConsole(value: unknown): boolean {
  return isEmpty(value) || (isList(value) && value.every(amount))
}

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null || value === '' || value === 0 || value === false) return true
  if (isList(value)) return value.length === 0
  return isSettings(value) && Object.keys(value).length === 0
}

const isList = (value: unknown): value is readonly unknown[] => Array.isArray(value)
const isSettings = (value: unknown): value is Settings =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

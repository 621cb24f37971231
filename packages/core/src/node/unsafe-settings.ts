// Which settings of a container are outside the safe set? Asked of what is about to be created and of what the engine says
// of a container that exists: whoever made it, it is not run with more than we give. SAFETY 2 rows 22 and 23.
// What this file does not know by name must be empty: a new option of an engine is unsafe until somebody has looked at it.
// A container that exists is ended for the named dangers alone: an operator may pin one to a core, and an engine may learn a
// new option, and neither is a reason to take down what is wished.

import { CAPABILITIES, LOG_ROTATION, NO_NEW_PRIVILEGES, PIDS_LIMIT } from './container-settings.ts'

type Check = (value: unknown) => boolean
interface Settings {
  readonly [name: string]: unknown
}

/** The part of an inspect, or of a create body, that says what a container may do. */
export interface InspectedSettings {
  readonly HostConfig: Settings
  /** Absent in a create body. */
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

/** These must be there, and be so. */
const REQUIRED: { readonly [name: string]: Check } = {
  CapDrop: (value) => isList(value) && value.includes('ALL'),
  SecurityOpt: (value) =>
    isList(value) && value.length > 0 && listOf([NO_NEW_PRIVILEGES, `${NO_NEW_PRIVILEGES}:true`])(value),
  PidsLimit: (value) => amount(value) && Number(value) > 0 && Number(value) <= PIDS_LIMIT,
  IpcMode: one('private'),
  LogConfig: isRotatedLog,
}

/** These may be there, and then be so. */
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
  // The engine's own choice: the host's on a machine with cgroups of the first version.
  CgroupnsMode: one('', 'host', 'private'),
  Runtime: one('', 'runc', 'io.containerd.runc.v2'),
  ConsoleSize: isConsole,
  Isolation: one('', 'default'),
  MemorySwappiness: one(null, -1),
}

/** What reaches beyond a container: privilege, capabilities, namespaces, devices, mounts and the engine's own guards. */
const DANGERS: readonly string[] = [
  'Privileged',
  ...['CapAdd', 'CapDrop'],
  ...['NetworkMode', 'PidMode', 'IpcMode', 'UTSMode', 'UsernsMode', 'CgroupnsMode'],
  ...['Devices', 'DeviceCgroupRules', 'DeviceRequests', 'Sysctls'],
  ...['Binds', 'Mounts', 'VolumesFrom'],
  // The paths are how the engine shows that a security option opened them.
  ...['SecurityOpt', 'MaskedPaths', 'ReadonlyPaths'],
]

/** Of the names that findUnsafeSettings gives: those for which a container may not go on. */
export const isDanger = (setting: string): boolean => DANGERS.includes(setting)

/** The names of the settings at fault; none for a container within the safe set. */
export function findUnsafeSettings(container: InspectedSettings, network: string): string[] {
  const { HostConfig } = container
  const missing = Object.entries(REQUIRED)
    .filter(([name, holds]) => !holds(HostConfig[name]))
    .map(([name]) => name)
  const beyond = Object.entries(HostConfig)
    .filter(([name, value]) => !Object.hasOwn(REQUIRED, name) && !isHarmless(name, value, network))
    .map(([name]) => name)
  return [...missing, ...beyond, ...findForeignParts(container, network)]
}

function isHarmless(name: string, value: unknown, network: string): boolean {
  if (name === 'NetworkMode') return value === network
  return (Object.hasOwn(ALLOWED, name) ? ALLOWED[name] : isEmpty)?.(value) ?? false
}

function findForeignParts({ Mounts = [], NetworkSettings }: InspectedSettings, network: string): string[] {
  const networks = Object.keys(NetworkSettings?.Networks ?? {})
  return [
    ...(Mounts.every(isOwnVolume) ? [] : ['Mounts']),
    ...(networks.every((name) => name === network) ? [] : ['Networks']),
  ]
}

/** An image may declare volumes: the engine then makes one without a name, for this container alone. */
function isOwnVolume(mount: unknown): boolean {
  if (!isSettings(mount)) return false
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
  // Absent in a body: the engine puts its own in.
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

// Builds the body of Docker's "create container" call. Every setting that could affect the machine outside of the
// container is a constant, so no template can request a privilege. Field names are Docker's. See
// docs/design/agent.md#container-settings.

import {
  type ContainerTemplate,
  type DesiredItem,
  defined,
  durationMs,
  type HealthCheck,
  healthCheckTexts,
  type TenantId,
} from '@holdfast/contract'
import { containerLabels } from './container-labels.ts'
import { isStartedByAgent, type MountBody, type MountPlaces, mountBodies } from './container-mounts.ts'
import { engineNetworkName } from './plan-networks.ts'

export const CAPABILITIES = [
  'CHOWN',
  'DAC_OVERRIDE',
  'FOWNER',
  'SETUID',
  'SETGID',
  'KILL',
  'NET_BIND_SERVICE',
] as const
export const PIDS_LIMIT = 1024
export const NO_NEW_PRIVILEGES = 'no-new-privileges'
export const LOG_ROTATION = { 'max-size': '10m', 'max-file': '3' } as const

/**
 * Docker's default times of a health check. They are sent explicitly, because Docker fills omitted times from the image's
 * own health check.
 */
const DEFAULT_TIMEOUT = healthCheckTexts.timeout.default
export const DEFAULT_RETRIES = healthCheckTexts.retries.default
/** Docker reads a start period of zero as "use the image's start period", so 1 ms is sent for no start period. */
const NO_START_PERIOD_MS = 1
const SHELL = ['/bin/sh', '-c']

const NANOSECONDS = 1_000_000
/**
 * The CPU scheduling period. Docker's smallest CPU quota is 1 ms, so limits below a hundredth of a core need a longer
 * period.
 */
const CPU_PERIOD_US = 100_000
const LONG_CPU_PERIOD_US = 1_000_000
const SMALL_CPU_MILLIS = 10

interface HealthcheckBody {
  readonly Test: readonly string[]
  readonly Interval?: number
  readonly Timeout?: number
  readonly Retries?: number
  readonly StartPeriod?: number
}

type HostConfigBody = {
  readonly NetworkMode: string
  readonly CapDrop: readonly string[]
  readonly CapAdd: readonly string[]
  readonly SecurityOpt: readonly string[]
  readonly PidsLimit: number
  readonly IpcMode: 'private'
  readonly LogConfig: { readonly Type: 'json-file'; readonly Config: { readonly [key: string]: string } }
  readonly RestartPolicy: { readonly Name: 'unless-stopped' | 'no' }
  readonly Mounts?: readonly MountBody[]
  readonly CgroupParent?: string
  readonly Memory?: number
  readonly CpuPeriod?: number
  readonly CpuQuota?: number
}

/** The request body of Docker's "create container" call. */
export interface CreateBody {
  readonly Image: string
  readonly Entrypoint?: readonly string[]
  readonly Cmd?: readonly string[]
  readonly Env: readonly string[]
  readonly Labels: { readonly [key: string]: string }
  readonly Healthcheck: HealthcheckBody
  readonly Shell: readonly string[]
  readonly StopTimeout: number
  readonly HostConfig: HostConfigBody
  readonly NetworkingConfig: { readonly EndpointsConfig: { readonly [network: string]: EndpointBody } }
}

export interface EndpointBody {
  readonly Aliases: readonly string[]
  readonly IPAMConfig?: { readonly IPv4Address: string }
}

/**
 * The name of a tenant's bridge network, which containers without networks of their own join. On this network, a
 * deployment's name resolves to its replicas on the same node.
 */
export const tenantNetwork = (tenant: TenantId): string => `hf-${tenant}`

/** The engine's names of the networks that a container joins. It is created on the first and attached to the others. */
export function containerNetworks(
  { networks = [] }: Pick<ContainerTemplate, 'networks'>,
  tenant: TenantId,
): readonly [string, ...string[]] {
  const [first, ...others] = networks.map((name) => engineNetworkName(tenant, name))
  return first === undefined ? [tenantNetwork(tenant)] : [first, ...others]
}

/**
 * The complete environment of a container with secrets. The broker resolves the environment for one container creation,
 * and no process stores it.
 */
export interface ResolvedEnvironment {
  readonly environment: { readonly [variable: string]: string }
  readonly proof: string
}

/** Whether the agent must fetch the container's environment from the broker before it creates the container. */
export const needsEnvironment = ({ template }: DesiredItem): boolean =>
  template.secrets !== undefined || template.composedEnvironment !== undefined

/** Where the mounts of a container are on its node. Required for a template with mounts. */
export interface PlacedMounts extends Pick<MountPlaces, 'volumes'> {
  /** The cgroup parent of a writer; undefined for other containers. */
  readonly cgroupParent?: string | undefined
}

/**
 * `address` is the container's fixed IP address on its first network, so that a request routed to this container never
 * reaches another one. If `address` is undefined, Docker assigns an address at each start.
 */
export function containerSettings(
  item: DesiredItem,
  tenant: TenantId,
  address?: string,
  resolved?: ResolvedEnvironment,
  placed?: PlacedMounts,
): CreateBody {
  const { template } = item
  if (needsEnvironment(item) && resolved === undefined) throw new TypeError('the environment is not resolved')
  const [network] = containerNetworks(template, tenant)
  return {
    Image: template.image,
    ...(template.command?.length ? { Entrypoint: template.command } : {}),
    ...(template.args?.length ? { Cmd: template.args } : {}),
    Env: Object.entries((resolved ?? template).environment).map(([key, value]) => `${key}=${value}`),
    Labels: containerLabels(item, tenant, resolved?.proof),
    Healthcheck: healthcheck(template.healthCheck),
    Shell: SHELL,
    StopTimeout: graceSeconds(item),
    HostConfig: hostConfig(item, network, placed),
    NetworkingConfig: { EndpointsConfig: { [network]: endpointBody(template.name, address) } },
  }
}

/** How a container is attached to a network: by its alias, and at a fixed address if there is one. */
export const endpointBody = (alias: string, address: string | undefined): EndpointBody => ({
  Aliases: [alias],
  ...(address === undefined ? {} : { IPAMConfig: { IPv4Address: address } }),
})

function hostConfig(
  { template }: DesiredItem,
  network: string,
  placed: PlacedMounts | undefined,
): HostConfigBody {
  return {
    NetworkMode: network,
    CapDrop: ['ALL'],
    CapAdd: CAPABILITIES,
    SecurityOpt: [NO_NEW_PRIVILEGES],
    PidsLimit: PIDS_LIMIT,
    IpcMode: 'private',
    LogConfig: { Type: 'json-file', Config: LOG_ROTATION },
    RestartPolicy: { Name: isStartedByAgent(template) ? 'no' : 'unless-stopped' },
    ...mountSettings(template, placed),
    ...(template.limits?.memoryBytes ? { Memory: template.limits.memoryBytes } : {}),
    ...cpuLimit(template.limits?.cpuMillis ?? 0),
  }
}

/** A container without its mounts would write into its own layer, so they are never left out. */
function mountSettings(
  template: ContainerTemplate,
  placed: PlacedMounts | undefined,
): Pick<HostConfigBody, 'Mounts' | 'CgroupParent'> {
  if (template.mounts === undefined || template.mounts.length === 0) return {}
  if (placed === undefined) throw new TypeError('the places of the mounts are unknown')
  return { Mounts: mountBodies(template, placed), ...defined({ CgroupParent: placed.cgroupParent }) }
}

/** The CPU limit is sent as a quota per scheduling period, because Docker rejects NanoCpus above the number of cores. */
function cpuLimit(cpuMillis: number): { CpuPeriod?: number; CpuQuota?: number } {
  if (cpuMillis === 0) return {}
  const CpuPeriod = cpuMillis < SMALL_CPU_MILLIS ? LONG_CPU_PERIOD_US : CPU_PERIOD_US
  return { CpuPeriod, CpuQuota: (cpuMillis * CpuPeriod) / 1000 }
}

/** Docker's health check settings. If the spec has no health check, the image's own health check is disabled. */
function healthcheck(check: HealthCheck | undefined): HealthcheckBody {
  if (check === undefined) return { Test: ['NONE'] }
  return {
    Test: check.command.length === 1 ? ['CMD-SHELL', ...check.command] : ['CMD', ...check.command],
    Interval: milliseconds(check.interval) * NANOSECONDS,
    Timeout: probeTimeoutMs(check) * NANOSECONDS,
    Retries: check.retries ?? DEFAULT_RETRIES,
    StartPeriod: Math.max(milliseconds(check.startPeriod), NO_START_PERIOD_MS) * NANOSECONDS,
  }
}

/** The health check as a command line, which the agent runs until the check passes for the first time. */
export const probeCommand = ({ command }: HealthCheck): readonly string[] =>
  command.length === 1 ? [...SHELL, ...command] : command

export const probeTimeoutMs = ({ timeout = DEFAULT_TIMEOUT }: HealthCheck): number => milliseconds(timeout)

export const probeIntervalMs = ({ interval }: HealthCheck): number => milliseconds(interval)

/** The stop grace period in seconds, rounded up because Docker accepts only whole seconds. */
export const graceSeconds = ({ template }: DesiredItem): number =>
  Math.ceil(milliseconds(template.stopGracePeriod) / 1000)

const milliseconds = (text: string): number => durationMs(text) ?? 0

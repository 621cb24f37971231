// What a container is created with: everything that could reach beyond it is a constant of this file, so no template,
// however it came here, asks for a privilege. SAFETY 2 rows 22 and 23, DECISIONS 4. The names are those of Docker's API.

import { type DesiredItem, durationMs, type HealthCheck, type TenantId } from '@holdfast/contract'
import { containerLabels } from './container-labels.ts'

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

/** The engine's own defaults, said aloud: what is left out is taken from the image's own check. */
const DEFAULT_TIMEOUT_MS = 30_000
export const DEFAULT_RETRIES = 3
/** The engine takes zero for "as the image says", and this for none. */
const NO_START_PERIOD_MS = 1
const SHELL = ['/bin/sh', '-c']

const NANOSECONDS = 1_000_000
/** The usual scheduling period; shares below a hundredth of a core want a longer one, the engine's floor being 1 ms. */
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
  readonly RestartPolicy: { readonly Name: 'unless-stopped' }
  readonly Memory?: number
  readonly CpuPeriod?: number
  readonly CpuQuota?: number
}

/** The body of Docker's container create. */
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

interface EndpointBody {
  readonly Aliases: readonly string[]
  readonly IPAMConfig?: { readonly IPv4Address: string }
}

/** One bridge per tenant on each node; the alias resolves there to the replicas on that node. */
export const tenantNetwork = (tenant: TenantId): string => `hf-${tenant}`

/** The whole environment of a container with secrets, as the broker made it for this one; no template holds it. */
export interface GivenEnvironment {
  readonly environment: { readonly [variable: string]: string }
  readonly proof: string
}

/** Has it what must be asked for before it can be made? SAFETY 4e. */
export const needsEnvironment = ({ template }: DesiredItem): boolean =>
  template.secrets !== undefined || template.composedEnvironment !== undefined

/**
 * `address`: on the tenant's network, the container's for as long as it exists, so that what is routed to it never reaches
 * another one. Undefined: the engine gives it one at each start.
 */
export function containerSettings(
  item: DesiredItem,
  tenant: TenantId,
  address?: string,
  given?: GivenEnvironment,
): CreateBody {
  const { template } = item
  if (needsEnvironment(item) && given === undefined) throw new TypeError('its environment was not given')
  const network = tenantNetwork(tenant)
  return {
    Image: template.image,
    ...(template.command?.length ? { Entrypoint: template.command } : {}),
    ...(template.args?.length ? { Cmd: template.args } : {}),
    Env: Object.entries((given ?? template).environment).map(([key, value]) => `${key}=${value}`),
    Labels: containerLabels(item, tenant, given?.proof),
    Healthcheck: healthcheck(template.healthCheck),
    Shell: SHELL,
    StopTimeout: graceSeconds(item),
    HostConfig: hostConfig(item, network),
    NetworkingConfig: { EndpointsConfig: { [network]: endpoint(template.name, address) } },
  }
}

const endpoint = (alias: string, address: string | undefined): EndpointBody => ({
  Aliases: [alias],
  ...(address === undefined ? {} : { IPAMConfig: { IPv4Address: address } }),
})

function hostConfig({ template }: DesiredItem, network: string): HostConfigBody {
  return {
    NetworkMode: network,
    CapDrop: ['ALL'],
    CapAdd: CAPABILITIES,
    SecurityOpt: [NO_NEW_PRIVILEGES],
    PidsLimit: PIDS_LIMIT,
    IpcMode: 'private',
    LogConfig: { Type: 'json-file', Config: LOG_ROTATION },
    RestartPolicy: { Name: 'unless-stopped' },
    ...(template.limits?.memoryBytes ? { Memory: template.limits.memoryBytes } : {}),
    ...cpuLimit(template.limits?.cpuMillis ?? 0),
  }
}

/** A quota of time, which may be more than the machine has cores: the engine refuses the other form then. */
function cpuLimit(cpuMillis: number): { CpuPeriod?: number; CpuQuota?: number } {
  if (cpuMillis === 0) return {}
  const CpuPeriod = cpuMillis < SMALL_CPU_MILLIS ? LONG_CPU_PERIOD_US : CPU_PERIOD_US
  return { CpuPeriod, CpuQuota: (cpuMillis * CpuPeriod) / 1000 }
}

/** Without a check in the spec the image's own is switched off: it does not count (DECISIONS 3). */
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

/** The check as the agent runs it until it first passes. */
export const probeCommand = ({ command }: HealthCheck): readonly string[] =>
  command.length === 1 ? [...SHELL, ...command] : command

export const probeTimeoutMs = ({ timeout }: HealthCheck): number =>
  timeout === undefined ? DEFAULT_TIMEOUT_MS : milliseconds(timeout)

export const probeIntervalMs = ({ interval }: HealthCheck): number => milliseconds(interval)

/** The engine counts in seconds. */
export const graceSeconds = ({ template }: DesiredItem): number =>
  Math.ceil(milliseconds(template.stopGracePeriod) / 1000)

const milliseconds = (text: string): number => durationMs(text) ?? 0

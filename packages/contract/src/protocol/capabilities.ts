// Capabilities of agents: the parts of a container template that an agent can carry out. An agent states its list in
// `hello`; the server assigns and sends nothing that needs more. See docs/design/agent.md#capabilities

import type { NodeFaultReason } from '../api/node.ts'
import type { ContainerTemplate } from '../api/placement.ts'

type OptionalKeys<T> = { [K in keyof T & string]-?: object extends Pick<T, K> ? K : never }[keyof T & string]
type Element<T> = T extends readonly (infer E)[] ? Element<E> : T extends object ? T : object
type TemplateOption = OptionalKeys<ContainerTemplate>
type NestedOption = {
  [K in keyof ContainerTemplate]-?: `${K}.${OptionalKeys<Element<Exclude<ContainerTemplate[K], undefined>>>}`
}[keyof ContainerTemplate]

/** The members of a template on which its capabilities depend. */
export type TemplateOptions = Pick<ContainerTemplate, TemplateOption>

/**
 * The capability behind each optional member of a container template and of its parts. The type makes an optional member
 * without an entry a compile error. A new member needs a new name: an agent that states an old name does not know it.
 */
const TEMPLATE_CAPABILITIES: { readonly [member in TemplateOption | NestedOption]: string } = {
  command: 'command',
  args: 'args',
  secrets: 'secrets',
  composedEnvironment: 'composed_environment',
  healthCheck: 'health_check',
  'healthCheck.retries': 'health_check',
  'healthCheck.timeout': 'health_check',
  limits: 'limits',
  'limits.cpuMillis': 'limits',
  'limits.memoryBytes': 'limits',
  mounts: 'mounts',
  'mounts.sizeBytes': 'mounts',
  networks: 'networks',
  runs: 'jobs',
}

/** The agent runs containers once, reports their ends and keeps their logs: the capability behind `runs` of a template. */
export const JOBS = 'jobs'

/** The agent creates networks and attaches containers to them: the capability behind `networks` of a template, too. */
export const NETWORKS = 'networks'

/** The agent keeps the last log lines of failed containers and sends them on request. */
export const KEPT_LOGS = 'kept_logs'

/** The agent holds copies of volumes and reports about them. Without it, a node gets no copies. */
export const VOLUMES = 'volumes'

/** The agent takes a checkpoint of its primaries on request. */
export const CHECKPOINTS = 'checkpoints'

/** The agent offers what its pool holds, and deletes all of it on the order of the server. */
export const OFFERS = 'offers'

/** The agent exchanges promises with the agents of other copies, and votes for promotions. */
export const PROMISES = 'promises'

/** The agent sends and deletes data that its pool keeps in quarantine. */
export const DIVERGENCES = 'divergences'

/** The router of the node sends a stated share of requests to the replicas of a canary. */
export const CANARY = 'canary'

/** The agent reports with each heartbeat whether its engine answers. */
export const ENGINE_HEALTH = 'engine_health'

/** The agent reports how full the disks of its node are. */
export const DISKS = 'disks'

/** The capability of the agents that report about a fault of their node, and about its end. */
const FAULT_CAPABILITIES: { readonly [reason in NodeFaultReason]?: string } = {
  engine_silent: ENGINE_HEALTH,
  disk_pressure: DISKS,
}

/** The capabilities of an agent of this version. */
export const AGENT_CAPABILITIES: readonly string[] = [
  ...new Set(Object.values(TEMPLATE_CAPABILITIES)),
  KEPT_LOGS,
  VOLUMES,
  CHECKPOINTS,
  OFFERS,
  PROMISES,
  DIVERGENCES,
  CANARY,
  ENGINE_HEALTH,
  DISKS,
]

/** The capabilities of version 0.1.0, which hold for every agent that states none. This list never changes. */
const FIRST_CAPABILITIES: readonly string[] = [
  'command',
  'args',
  'secrets',
  'composed_environment',
  'health_check',
  'limits',
]

/** The version and capabilities that an agent stated in its last `hello`. */
export interface StatedAgent {
  readonly version: string
  readonly capabilities?: readonly string[]
}

export const capabilitiesOf = (agent: StatedAgent | undefined): readonly string[] =>
  agent?.capabilities ?? FIRST_CAPABILITIES

const CAPABILITY_OF_FAULT = new Map<string, string>(Object.entries(FAULT_CAPABILITIES))

/** Whether the agent reports about this fault of its node. */
export function reportsFault(agent: StatedAgent, reason: string): boolean {
  const needed = CAPABILITY_OF_FAULT.get(reason)
  return needed !== undefined && capabilitiesOf(agent).includes(needed)
}

const MEMBERS = Object.entries(TEMPLATE_CAPABILITIES).map(
  ([path, capability]) => [path.split('.'), capability] as const,
)

/** The capabilities that an agent needs to create a container from the template, in the order of the table. */
export function capabilitiesNeeded(template: TemplateOptions): string[] {
  const needed = new Set<string>()
  for (const [path, capability] of MEMBERS) if (isUsed(template, path)) needed.add(capability)
  return [...needed]
}

function isUsed(value: unknown, [name, ...rest]: readonly string[]): boolean {
  if (name === undefined) return value !== undefined
  if (Array.isArray(value)) return value.some((element) => isUsed(element, [name, ...rest]))
  if (typeof value !== 'object' || value === null) return false
  return isUsed(Reflect.get(value, name), rest)
}

/** The needed capabilities that are not among the given ones; empty if nothing is lacking. */
export function lackedCapabilities(
  needs: readonly string[] | undefined,
  capabilities: readonly string[],
): string[] {
  return (needs ?? []).filter((need) => !capabilities.includes(need))
}

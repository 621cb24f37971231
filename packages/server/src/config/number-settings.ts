// The numbers of DECISIONS 6 as settings: limits, quotas, rates and how long things are kept. The defaults that
// admission judges by are core's own; here stand the bounds within which an operator may move them.

import { integer, object, type QuotaKind } from '@holdfast/contract'
import { DEFAULT_LIMITS, type Limits } from '@holdfast/core'
import { setting } from './setting.ts'

const KIB = 1024
const MIB = 1024 * KIB
const HOUR_MS = 3_600_000
/** Of quotas and byte counts: far above any cell, and exact as a number. */
const CEILING = Number.MAX_SAFE_INTEGER

const count = (value: number, minimum: number, maximum: number, about: string) =>
  setting(integer(), { default: value, minimum, maximum, about })

const limit = (name: keyof Limits, minimum: number, maximum: number, about: string) =>
  count(DEFAULT_LIMITS[name], minimum, maximum, about)

/** NOTE the floors of a health check are SPEC's promise to tenants: they may rise, never sink. */
const admissionLimits = {
  maxReplicasPerDeployment: limit('maxReplicasPerDeployment', 1, 5000, 'Replicas of one deployment'),
  nameCharacters: limit('nameCharacters', 1, 63, 'Length of a name'),
  healthCheckRetriesFloor: limit('healthCheckRetriesFloor', 3, 100, 'Fewest retries of a health check'),
  healthCheckTimeoutFloorMs: limit(
    'healthCheckTimeoutFloorMs',
    10_000,
    HOUR_MS,
    'Shortest health check time-out',
  ),
  healthCheckIntervalFloorMs: limit(
    'healthCheckIntervalFloorMs',
    5_000,
    HOUR_MS,
    'Shortest health check interval',
  ),
  environmentBytes: limit('environmentBytes', 1, MIB, 'All keys and values of an environment'),
  environmentEntries: limit('environmentEntries', 1, 10_000, 'Variables of an environment'),
  secrets: limit('secrets', 0, 256, 'Secrets of a deployment'),
  volumes: limit('volumes', 0, 256, 'Volume mounts of a deployment'),
  dependsOn: limit('dependsOn', 0, 256, 'Dependencies of a deployment'),
  dependencyDepth: limit('dependencyDepth', 1, 64, 'Longest chain of dependencies'),
  constraints: limit('constraints', 0, 256, 'Placement constraints of a deployment'),
  constraintValues: limit('constraintValues', 1, 1024, 'Values of one placement constraint'),
  affinityNames: limit('affinityNames', 0, 1024, 'Names in affinity, and in antiAffinity'),
  routes: limit('routes', 0, 16, 'Routes of a deployment'),
  labels: limit('labels', 0, 1024, 'Labels of a deployment'),
  commandElements: limit('commandElements', 1, 10_000, 'Elements of a command, and of args'),
  stopGracePeriodMs: limit('stopGracePeriodMs', 10_000, 24 * HOUR_MS, 'Longest stopGracePeriod'),
  durationMs: limit('durationMs', HOUR_MS, 24 * HOUR_MS, 'Longest of all other durations'),
  rejections: limit('rejections', 1, 10_000, 'Rejections listed in one answer'),
} satisfies { [Name in keyof Limits]: unknown }

/** NOTE etcd refuses requests over 1.5 MiB, so a body may be shorter than 1 MiB and not longer. */
export const limitsShape = object({
  ...admissionLimits,
  bodyBytes: count(MIB, KIB, MIB, 'A request body'),
  bodyDepth: count(32, 8, 64, 'Nesting of a request body'),
  headerBytes: count(16 * KIB, 4 * KIB, 64 * KIB, 'All headers of a request'),
})

const QUOTAS: { readonly [Kind in QuotaKind]: readonly [value: number, about: string] } = {
  nodes: [50, 'Enrolled nodes'],
  deployments: [200, 'Deployments'],
  containers: [500, 'Containers at one time'],
  volumes: [100, 'Volumes'],
  volume_bytes: [1024 ** 4, 'Sum of all volume sizes'],
  networks: [50, 'Networks'],
  jobs_running: [50, 'Jobs at one time'],
  secrets: [1000, 'Secret paths'],
  stored_bytes: [16 * MIB, 'Records in the key-value store'],
}
const quota = (kind: QuotaKind) => count(QUOTAS[kind][0], 0, CEILING, QUOTAS[kind][1])

/** Each kind by name: a kind that the contract adds is a type error here until it has a number. */
export const quotasShape = object({
  nodes: quota('nodes'),
  deployments: quota('deployments'),
  containers: quota('containers'),
  volumes: quota('volumes'),
  volume_bytes: quota('volume_bytes'),
  networks: quota('networks'),
  jobs_running: quota('jobs_running'),
  secrets: quota('secrets'),
  stored_bytes: quota('stored_bytes'),
} satisfies { [Kind in QuotaKind]: unknown })

export const ratesShape = object({
  requestsPerMinute: count(1200, 1, 1_000_000, 'Requests of one token in a minute, for each server replica'),
  burst: count(300, 1, 1_000_000, 'Requests of one token at once'),
  failedJoinsPerMinute: count(5, 1, 10_000, 'Failed enrolments from one address in a minute'),
})

/** NOTE a beat may be lost and come late; unreachable must leave room for three of them (check-relations.ts). */
export const livenessShape = object({
  beatSeconds: count(10, 1, 300, 'A node says that it is there'),
  unreachableSeconds: count(40, 3, 3600, 'Silence after which a node is unreachable'),
  failedSeconds: count(
    120,
    4,
    86_400,
    'Silence after which a node is failed and its stateless replicas are replaced',
  ),
  massWindowSeconds: count(60, 1, 3600, 'Nodes that fall silent within this time fell silent together'),
  massHoldSeconds: count(600, 1, 86_400, 'How long nodes that fell silent together are not given up'),
})

const kept = (days: number, most: number, what: string) =>
  object({
    days: count(days, 1, 3650, `Days that ${what} are kept`),
    max: count(most, 1, 1_000_000, `Most ${what} kept for a tenant`),
  })

export const retentionShape = object({
  archiveRevisions: count(50, 1, 1000, 'Revisions of a deployment kept in its archive'),
  events: object({
    ...kept(30, 10_000, 'events').fields,
    bytes: count(8 * MIB, MIB, CEILING, 'Most bytes of events kept for a tenant; the oldest go first'),
  }),
  audit: kept(30, 10_000, 'audit entries'),
  idempotencyHours: count(24, 1, 168, 'Hours that an answer is kept for its Idempotency-Key'),
})
export const etcdQuotaBytes = count(2048 * MIB, MIB, CEILING, "etcd's own --quota-backend-bytes")

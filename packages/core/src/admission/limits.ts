// The numbers that admission judges by, as data: DECISIONS 6 where it names them, chosen here where it does not.
// Configuration may replace each of them.

export interface Limits {
  readonly maxReplicasPerDeployment: number
  readonly nameCharacters: number
  readonly healthCheckRetriesFloor: number
  readonly healthCheckTimeoutFloorMs: number
  readonly healthCheckIntervalFloorMs: number
  readonly environmentBytes: number
  readonly environmentEntries: number
  readonly secrets: number
  readonly volumes: number
  readonly dependsOn: number
  readonly dependencyDepth: number
  readonly constraints: number
  readonly constraintValues: number
  readonly affinityNames: number
  readonly routes: number
  readonly labels: number
  readonly commandElements: number
  /** Longest stopGracePeriod: a drain of a node must end. */
  readonly stopGracePeriodMs: number
  /** Longest of every other duration: the engine counts nanoseconds in 64 bits. */
  readonly durationMs: number
  /** A body with more faults than this answers with so many of them, the first ones, so that no body makes a huge answer. */
  readonly rejections: number
}

const SECOND_MS = 1000
const HOUR_MS = 3_600_000

export const DEFAULT_LIMITS: Limits = {
  maxReplicasPerDeployment: 100,
  nameCharacters: 63,
  healthCheckRetriesFloor: 3,
  healthCheckTimeoutFloorMs: 10 * SECOND_MS,
  healthCheckIntervalFloorMs: 5 * SECOND_MS,
  environmentBytes: 256 * 1024,
  environmentEntries: 1024,
  secrets: 32,
  volumes: 16,
  dependsOn: 16,
  dependencyDepth: 16,
  constraints: 16,
  constraintValues: 64,
  affinityNames: 64,
  routes: 16,
  labels: 64,
  commandElements: 256,
  stopGracePeriodMs: HOUR_MS,
  durationMs: 24 * HOUR_MS,
  rejections: 100,
}

/** Names that no deployment, job or network of any tenant may have; configuration adds more. DECISIONS 3. */
export const RESERVED_NAMES: readonly string[] = ['etcd', 'holdfast-etcd']

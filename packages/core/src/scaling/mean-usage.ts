// The mean usage of the ready replicas of a deployment. A replica without a sample is left out: it is unknown, not idle.

export interface ReplicaUsage {
  readonly isReady: boolean
  readonly cpuMillis?: number | undefined
  readonly memoryBytes?: number | undefined
}

export interface MeanUsage {
  readonly ready: number
  /** Number of ready replicas with samples. */
  readonly measured: number
  readonly cpuMillis?: number
  readonly memoryBytes?: number
}

export function meanUsage(replicas: readonly ReplicaUsage[]): MeanUsage {
  const ready = replicas.filter(({ isReady }) => isReady)
  const cpu = ready.flatMap(({ cpuMillis }) => cpuMillis ?? [])
  const memory = ready.flatMap(({ memoryBytes }) => memoryBytes ?? [])
  return {
    ready: ready.length,
    // The first sample of a container has no CPU value, so such a replica has not been measured yet.
    measured: Math.min(cpu.length, memory.length),
    ...(cpu.length === 0 ? {} : { cpuMillis: mean(cpu) }),
    ...(memory.length === 0 ? {} : { memoryBytes: mean(memory) }),
  }
}

const mean = (values: readonly number[]): number =>
  Math.round(values.reduce((sum, value) => sum + value, 0) / values.length)

// Reads what containers and the machine use at this moment.

import type { ContainerReading } from '@holdfast/core/node'

/** Values that could not be read are absent. */
export interface MachineReading {
  /** Time that all CPUs have worked since the boot, in milliseconds. */
  readonly busyMs?: number | undefined
  readonly memoryBytes?: number | undefined
  readonly loadMillis?: number | undefined
  readonly diskUsedBytes?: number | undefined
  readonly diskBytes?: number | undefined
}

export interface UsageReader {
  /** The counters of a container whose first process has this id; undefined if they cannot be read. */
  container(containerId: string, pid: number): ContainerReading | undefined
  machine(): Promise<MachineReading>
}

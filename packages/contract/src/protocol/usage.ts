// Resource usage in the agent protocol. A value that could not be read is absent, never 0. See docs/design/usage.md

import type { AssignmentId } from '../ids.ts'
import { branded, type Infer, integer, list, nullable, object, optional } from '../shapes/shape.ts'

/** The most containers in one heartbeat. Those beyond are counted as unread. */
export const MAX_SAMPLED_CONTAINERS = 1000
/** The most series in one message with older samples, and the most samples in each. */
export const MAX_SENT_SERIES = 20
export const MAX_SENT_SAMPLES = 360

/** Rates are means since the sample before. The first sample of a container has none. */
const containerValues = {
  cpuMillis: optional(integer()),
  memoryBytes: optional(integer()),
  /** Bytes received and sent per second, on all networks but the loopback. */
  rx: optional(integer()),
  tx: optional(integer()),
  /** Share of the periods of its CPU limit in which the container used the limit up. */
  throttledPercent: optional(integer()),
  pids: optional(integer()),
}

export const containerSampleShape = object({ id: branded<AssignmentId>(), ...containerValues })
export type ContainerSample = Infer<typeof containerSampleShape>

/** The usage of the whole machine, also by programs that Holdfast does not manage. */
export const nodeSampleShape = object({
  cpuMillis: optional(integer()),
  memoryBytes: optional(integer()),
  /** The load average of the last minute in thousandths. */
  loadMillis: optional(integer()),
  /** The file system that holds the state of the agent. */
  diskUsedBytes: optional(integer()),
  diskBytes: optional(integer()),
})
export type NodeSample = Infer<typeof nodeSampleShape>

/** All samples of one moment. */
export const sampleRoundShape = object({
  ageMs: integer(),
  node: nodeSampleShape,
  containers: list(containerSampleShape),
  /** Number of running containers that could not be read. */
  unread: integer(),
})
export type SampleRound = Infer<typeof sampleRoundShape>

/** The samples of one container, as lists of equal length. */
export const usageSeriesShape = object({
  id: branded<AssignmentId>(),
  cpuMillis: list(nullable(integer())),
  memoryBytes: list(nullable(integer())),
  rx: list(nullable(integer())),
  tx: list(nullable(integer())),
})
export type UsageSeries = Infer<typeof usageSeriesShape>

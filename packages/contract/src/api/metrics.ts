// The usage of nodes and replicas in the last hour. Lists have one value for each step, the oldest first, and null where no
// sample arrived.

import type { NodeId } from '../ids.ts'
import {
  boolean,
  branded,
  described,
  type Infer,
  integer,
  list,
  nullable,
  object,
  optional,
  string,
} from '../shapes/shape.ts'

const values = (description: string) => described(description, list(nullable(integer())))
const newest = (description: string) => described(description, nullable(integer()))

const lastMinuteShape = object({
  cpuMillis: newest('Mean of the last minute in thousandths of a CPU; null without a sample'),
  memoryBytes: newest('Mean of the last minute; null without a sample'),
})

const window = {
  step: described('Seconds between two values', integer()),
  from: described('Time of the first value of each list', string()),
  unreachable: described(
    'Names of nodes whose usage is unknown, because no server could be asked for it',
    list(string()),
  ),
}

export const replicaMetricsShape = object({
  deployment: string(),
  replica: integer(),
  revision: integer(),
  node: described('Name of the node', string()),
  nodeId: branded<NodeId>(),
  ready: boolean(),
  /** True for a replica of a canary; absent for the others. */
  canary: optional(boolean()),
  cpuMillis: values('CPU time in thousandths of a CPU, mean of each step'),
  memoryBytes: values('Memory without page cache that can be dropped at once'),
  rx: values('Bytes received per second, mean of each step'),
  tx: values('Bytes sent per second, mean of each step'),
  lastMinute: lastMinuteShape,
  throttledPercent: newest('Share of the periods of the CPU limit in which the replica used the limit up'),
  pids: newest('Number of processes and threads'),
})
export type ReplicaMetrics = Infer<typeof replicaMetricsShape>

/** Response of GET /deployments/{name}/metrics. */
export const deploymentMetricsShape = object({
  ...window,
  lastMinute: object({
    ready: described('Number of ready replicas of the deployment itself, without its canary', integer()),
    measured: described('Number of ready replicas with a sample in the last minute', integer()),
    cpuMillis: newest('Mean per ready replica in the last minute; null if none was measured'),
    memoryBytes: newest('Mean per ready replica in the last minute; null if none was measured'),
  }),
  series: list(replicaMetricsShape),
})
export type DeploymentMetrics = Infer<typeof deploymentMetricsShape>

/** Response of GET /nodes/{id}/metrics. */
export const nodeMetricsShape = object({
  ...window,
  node: object({
    cpuMillis: values('CPU time of the whole machine in thousandths of a CPU, mean of each step'),
    memoryBytes: values('Memory that programs of the machine use'),
    loadMillis: values('Load average of a minute in thousandths'),
    diskUsedBytes: values('Used bytes of the file system that holds the state of the agent'),
    diskBytes: newest('Size of that file system'),
    lastMinute: lastMinuteShape,
  }),
  unread: newest('Number of running containers that the agent could not read; null without a sample'),
  omitted: described('Number of containers beyond the limit of one response', integer()),
  series: list(replicaMetricsShape),
})
export type NodeMetrics = Infer<typeof nodeMetricsShape>

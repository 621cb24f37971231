// Server processes and the shards they lead.

import { boolean, integer, object, optional, string } from '@holdfast/contract'
import { globalCollection, v } from './collection.ts'

/** One of 64 shards; the modification revision of its key is the fencing token. */
export const shardShape = object({ v, owner: string() })

/** A server process. It is alive while its heartbeat changes, measured by the observer's clock. */
export const serverReplicaShape = object({
  v,
  url: string(),
  startedAt: string(),
  heartbeat: integer(),
  /** Whether it leads shards; a replica that only holds sessions does not. */
  leads: boolean(),
  /** The control-plane node that it runs on, if configured; its heartbeat also counts for that node. */
  nodeName: optional(string()),
  /** Whether it acts as the broker that reads secret material for other replicas. */
  brokers: optional(boolean()),
})

export const shards = globalCollection('shard', shardShape)
export const serverReplicas = globalCollection('replica', serverReplicaShape)

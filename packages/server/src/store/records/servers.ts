// Server replicas, the shards they lead, and the form of stored records that they write.

import { boolean, integer, object, optional, string } from '@holdfast/contract'
import { globalCollection, v } from './collection.ts'

/** The owner of one of 64 shards; the modification revision of the shard's key is the fencing token. */
export const shardShape = object({ v, owner: string() })

/** A server replica. It is alive while its heartbeat changes, measured by the clock of the observing server replica. */
export const serverReplicaShape = object({
  v,
  url: string(),
  startedAt: string(),
  heartbeat: integer(),
  /** Whether the server replica leads shards. A server replica that only holds node sessions leads none. */
  leads: boolean(),
  /** The control-plane node on which the server replica runs, if configured; its heartbeat counts as one of the node. */
  nodeName: optional(string()),
  /** Whether the server replica acts as the broker that reads secret values for other server replicas. */
  brokers: optional(boolean()),
  /** The version of the server, and the highest form of stored records that it reads. */
  version: optional(string()),
  reads: optional(integer()),
})

/**
 * The form of stored records: `reads` is the highest form that every live server replica reads, `writes` is the highest
 * form that is written, and `by` is the oldest version that reads it. All versions must read this record.
 */
export const formatShape = object({ v, reads: integer(), writes: integer(), by: string() })

export const shards = globalCollection('shard', shardShape)
export const serverReplicas = globalCollection('replica', serverReplicaShape)
export const formats = globalCollection('format', formatShape)

/** Id of the only record in `formats`. */
export const FORMAT_ID = 'records'

// Server replicas, the shards they lead, the form of stored records that they write, and the epoch of the store.

import { boolean, integer, list, object, optional, string } from '@holdfast/contract'
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

/**
 * The epoch of the store, a random value that changes when an operator declares the store restored. All versions that know
 * it must read this record.
 */
export const epochShape = object({
  v,
  epoch: string(),
  createdAt: string(),
  /** The id of the etcd cluster in which the epoch began; absent if the engine has no such id. */
  clusterId: optional(string()),
  /** The epochs that this one replaced, the newest first. A server that knows one of them accepts this one. */
  previous: list(string()),
  /** Agents that knew another epoch remove nothing before an operator has confirmed this one. */
  unconfirmed: optional(boolean()),
  /** The tenants whose agents may remove while `unconfirmed` holds for the others. */
  confirmedTenants: optional(list(string())),
})

/** The heartbeats of one server, which only this server writes. The id outlasts a process that has a state folder. */
export const chainShape = object({ v, count: integer(), at: string() })

export const chains = globalCollection('chain', chainShape)
export const epochs = globalCollection('epoch', epochShape)
export const shards = globalCollection('shard', shardShape)
export const serverReplicas = globalCollection('replica', serverReplicaShape)
export const formats = globalCollection('format', formatShape)

/** Id of the only record in `formats`. */
export const FORMAT_ID = 'records'

/** Id of the only record in `epochs`. */
export const EPOCH_ID = 'store'

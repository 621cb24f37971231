// Connects to the key-value store of a test platform: etcd, or a store in the memory of the test's process. A platform in
// memory is faster, and serves only the servers of this process. Its configuration names an endpoint that cannot exist, so
// that whatever connects to etcd on its own fails.

import type { Config } from '@holdfast/server/config/schema'
import { connectEtcd } from '@holdfast/server/connect-engines'
import type { KeyValueEngine } from '@holdfast/server/ports/key-value'
import { connectMemory } from '@holdfast/simulation/memory/connect-memory'
import { createMemoryKeyspace, type MemoryKeyspace } from '@holdfast/simulation/memory/keyspace'

export const MEMORY_ENDPOINT = 'http://memory.invalid:2379'

/** The stores in memory by key root. */
const keyspaces = new Map<string, MemoryKeyspace>()

/** Connects to the store that the configuration names. Platforms with the same key root share their keys. */
export const connectStore: typeof connectEtcd = (config, log, tls) =>
  isInMemory(config) ? connectInMemory(config.etcd.root) : connectEtcd(config, log, tls)

const isInMemory = ({ etcd }: Config): boolean => etcd.endpoints.includes(MEMORY_ENDPOINT)

/** Connects to the store in memory with this key root. */
export const connectInMemory = (root: string): KeyValueEngine => connectMemory(keyspaceOf(root))

function keyspaceOf(root: string): MemoryKeyspace {
  const found = keyspaces.get(root) ?? createMemoryKeyspace()
  keyspaces.set(root, found)
  return found
}

/** The store in memory that has the keys with this prefix. */
export function keyspaceWith(prefix: string): MemoryKeyspace {
  for (const [root, keyspace] of keyspaces) if (prefix.startsWith(`${root}/`)) return keyspace
  throw new Error(`no platform in memory has keys below ${prefix}`)
}

/** Ends the store in memory of a platform that has stopped. */
export const forgetStore = ({ etcd }: Pick<Config, 'etcd'>): void => void keyspaces.delete(etcd.root)

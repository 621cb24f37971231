// Selects the key-value store for the test suites of the controllers. They run controllers without API and agents, so the
// in-memory store is enough, and is much faster. A rotating quarter of the test files, and all files in the long run, use
// etcd; in development all of them use the in-memory store.

import { createHash } from 'node:crypto'
import { relative } from 'node:path'
import { createEtcdClient } from '@holdfast/server/adapters/etcd/create-etcd-client'
import type { KeyValueEngine } from '@holdfast/server/ports/key-value'
import { connectMemory } from '@holdfast/simulation/memory/connect-memory'
import { createMemoryKeyspace, type MemoryKeyspace } from '@holdfast/simulation/memory/keyspace'
import { expect } from 'vitest'
import { sharedEtcd } from '../engines/shared-engines.ts'
import { LONG } from '../long-run.ts'
import { isInTurn, sliceOf } from '../rotation.ts'

const keyspaces = new Map<string, MemoryKeyspace>()

export function controllersRunOn(testPath = expect.getState().testPath ?? ''): 'memory' | 'etcd' {
  if (LONG) return 'etcd'
  if (sliceOf('controllers-on-etcd') === undefined) return 'memory'
  const digest = createHash('sha256').update(relative(process.cwd(), testPath)).digest()
  return isInTurn('controllers-on-etcd', digest.readUInt32BE(0)) ? 'etcd' : 'memory'
}

/** Connects to the store. Stores with the same root share their keys, as the server replicas of one control plane do. */
export async function connectControllerEngine(root: string): Promise<KeyValueEngine> {
  if (controllersRunOn() === 'etcd') return createEtcdClient({ endpoints: (await sharedEtcd()).endpoints })
  const keyspace = keyspaces.get(root) ?? createMemoryKeyspace()
  keyspaces.set(root, keyspace)
  return connectMemory(keyspace)
}

// Selects the key-value store for the test suites of the controllers. They run controllers without API and agents, so the
// in-memory store is enough, and is much faster. A rotating quarter of the test files, and all files in the long run, use
// etcd: CONTROLLERS_ON_ETCD is 0 to 3 for one quarter, or `all`.

import { createHash } from 'node:crypto'
import { relative } from 'node:path'
import { env } from 'node:process'
import { createEtcdClient } from '@holdfast/server/adapters/etcd/create-etcd-client'
import type { KeyValueEngine } from '@holdfast/server/ports/key-value'
import { connectMemory } from '@holdfast/simulation/memory/connect-memory'
import { createMemoryKeyspace, type MemoryKeyspace } from '@holdfast/simulation/memory/keyspace'
import { expect } from 'vitest'
import { sharedEtcd } from '../engines/shared-engines.ts'
import { type BarePace, startBarePace } from '../store/bare-pace.ts'

const QUARTERS = 4
const keyspaces = new Map<string, MemoryKeyspace>()

export function controllersRunOn(testPath = expect.getState().testPath ?? ''): 'memory' | 'etcd' {
  const choice = env['CONTROLLERS_ON_ETCD'] ?? ''
  if (choice === 'all') return 'etcd'
  const digest = createHash('sha256').update(relative(process.cwd(), testPath)).digest()
  return choice !== '' && digest.readUInt32BE(0) % QUARTERS === Number(choice) ? 'etcd' : 'memory'
}

/** Connects to the store. Stores with the same root share their keys, as the server replicas of one control plane do. */
export async function connectControllerEngine(root: string): Promise<KeyValueEngine> {
  if (controllersRunOn() === 'etcd') return createEtcdClient({ endpoints: (await sharedEtcd()).endpoints })
  const keyspace = keyspaces.get(root) ?? createMemoryKeyspace()
  keyspaces.set(root, keyspace)
  return connectMemory(keyspace)
}

/** Measures how long the key-value store itself delays writes; the in-memory store never delays them. */
export async function startEnginePace(): Promise<BarePace> {
  if (controllersRunOn() === 'etcd') return startBarePace((await sharedEtcd()).endpoints)
  return { heldUpMs: () => 0, stop: async () => {} }
}

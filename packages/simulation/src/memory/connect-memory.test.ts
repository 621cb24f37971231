// The store in memory is an engine of the store.

import { describeEngine } from '../conformance/engine-conformance.ts'
import { connectMemory } from './connect-memory.ts'
import { createMemoryKeyspace } from './keyspace.ts'

describeEngine('in memory', async () => ({
  engine: connectMemory(createMemoryKeyspace()),
  stop: async () => {},
}))

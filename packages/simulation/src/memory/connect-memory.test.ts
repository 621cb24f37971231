// The in-memory store passes the conformance suite of key-value engines.

import { describeEngine } from '../conformance/engine-conformance.ts'
import { connectMemory } from './connect-memory.ts'
import { createMemoryKeyspace } from './keyspace.ts'

describeEngine('in memory', async () => ({
  engine: connectMemory(createMemoryKeyspace()),
  stop: async () => {},
}))

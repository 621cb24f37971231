// The pool that an agent reports when it opens a session. The engine is absent: storage does not depend on it.

import { renameSync } from 'node:fs'
import { afterEach, expect, test } from 'vitest'
import { MIB, startPool, type TestPool } from '../adapters/btrfs/pool.fixture.ts'
import { createTestNode } from '../fixtures/agent.fixture.ts'

let home: TestPool
afterEach(() => home.remove())

test('reports the size and id of its pool in each session, its fault while it is missing, and nothing without a pool', async () => {
  home = await startPool(128 * MIB)
  const node = createTestNode('/nonexistent/docker.sock')
  const reported = async () => {
    const agent = await node.start()
    const { storage } = node.machine() ?? {}
    await agent.close()
    return storage
  }
  expect(await reported()).toBeUndefined()

  node.openPool = () => home.open()
  const { fileSystemId } = await home.pool.inspect()
  expect(await reported()).toEqual({
    poolBytes: 128 * MIB,
    usedBytes: expect.any(Number),
    poolId: fileSystemId,
  })

  renameSync(home.file, `${home.file}.away`)
  expect(await reported()).toEqual({ poolBytes: 0, usedBytes: 0, fault: 'pool_missing' })
  expect(node.logged.join()).toContain('pool_missing')
})

// Tests that a node's tenant sees the version of its agent, and whether that is older than the server's.

import { VERSION } from '@holdfast/contract'
import { createMemoryKeyspace } from '@holdfast/simulation/memory/keyspace'
import { nodeId, openOver, putTenant, write } from '@holdfast/simulation/memory/store-over-memory.fixture'
import { expect, onTestFinished, test } from 'vitest'
import { someTenant } from '../../store/records.fixture.ts'
import { nodes } from '../../store/records.ts'
import { inTenant } from '../../store/transaction.ts'
import { nodeView } from './node-view.ts'

test.each([
  [undefined, undefined, undefined],
  [{ version: '0.0.9' }, '0.0.9', true],
  [{ version: VERSION }, VERSION, undefined],
  [{ version: '99.0.0' }, '99.0.0', undefined],
  [{ version: 'unreleased' }, 'unreleased', undefined],
])('an agent %j is shown with its version %s, outdated: %s', async (agent, version, outdated) => {
  const store = await openOver(createMemoryKeyspace())
  onTestFinished(() => store.close())
  const tenant = someTenant()
  await write(store, (transaction) => putTenant(transaction, tenant))
  await store.fresh()
  const node = store.get(inTenant(tenant, nodes, nodeId))?.record ?? expect.unreachable()
  const { agentVersion, agentOutdated } = nodeView({ ...node, ...(agent && { agent }) }, tenant, [])
  expect([agentVersion, agentOutdated]).toEqual([version, outdated])
})

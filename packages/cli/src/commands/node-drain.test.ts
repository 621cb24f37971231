// When a drain that is waited for is over, and how.

import { expect, test } from 'vitest'
import { invocation, scriptClient, scriptTerminal } from '../terminal/scripted-terminal.fixture.ts'
import { nodeDrain } from './node-drain.ts'

const ID = 'node_01M7FP0B56J7QWA61SKH5Q3651'
const NODE = {
  ...{ id: ID, name: 'n1', status: 'ready', controlPlane: false, labels: {}, claims: [] },
  capacity: { cpuMillis: 1000, memoryBytes: 1 },
  engine: { version: '29.5.1', apiVersion: '1.51' },
}

/** `after`: as the node is once it is drained no more. */
async function drain(after: { readonly schedulable: boolean }) {
  const terminal = scriptTerminal()
  const client = scriptClient({
    'GET /nodes?limit=500': { items: [{ ...NODE, ...after }], nextCursor: null },
    [`POST /nodes/${ID}/drain`]: { ...NODE, schedulable: false, draining: true },
  })
  const exitCode = await nodeDrain.run(invocation(terminal, ['n1'], { wait: true }), client)
  return { exitCode, ...terminal.printed }
}

test('emptied it stays closed', async () => {
  const told = { exitCode: 0, out: 'node/n1 draining\nnode/n1 drained\n', err: '' }
  expect(await drain({ schedulable: false })).toEqual(told)
})

test('opened to new work by somebody else it was not emptied', async () => {
  const { exitCode, out, err } = await drain({ schedulable: true })
  expect({ exitCode, out }).toEqual({ exitCode: 6, out: 'node/n1 draining\n' })
  expect(err).toMatch(/somebody opened n1 to new work again: it is not drained/)
})

// The output and exit code of `node drain --wait` for each outcome of the drain.

import { expect, test } from 'vitest'
import { invocation, scriptClient, scriptTerminal } from '../../terminal/scripted-terminal.fixture.ts'
import { nodeDrain } from './node-drain.ts'

const ID = 'node_01M7FP0B56J7QWA61SKH5Q3651'
const NODE = {
  id: ID,
  name: 'n1',
  status: 'ready',
  controlPlane: false,
  labels: {},
  claims: [],
  capacity: { cpuMillis: 1000, memoryBytes: 1 },
  engine: { version: '29.5.1', apiVersion: '1.51' },
}

/** Runs `node drain --wait`. `after`: the node at the end of the drain. */
async function drain(after: { readonly schedulable: boolean }) {
  const terminal = scriptTerminal()
  const client = scriptClient({
    'GET /nodes?limit=500': { items: [{ ...NODE, ...after }], nextCursor: null },
    [`POST /nodes/${ID}/drain`]: { ...NODE, schedulable: false, draining: true },
  })
  const exitCode = await nodeDrain.run(invocation(terminal, ['n1'], { wait: true }), client)
  return { exitCode, ...terminal.printed }
}

test('node drain --wait succeeds when the node is empty and still cordoned', async () => {
  const expected = { exitCode: 0, out: 'node/n1 draining\nnode/n1 drained\n', err: '' }
  expect(await drain({ schedulable: false })).toEqual(expected)
})

test('node drain --wait fails when someone uncordons the node', async () => {
  const { exitCode, out, err } = await drain({ schedulable: true })
  expect({ exitCode, out }).toEqual({ exitCode: 6, out: 'node/n1 draining\n' })
  expect(err).toMatch(/n1 was uncordoned by someone else, so it is not drained/)
})

// The output and exit code of `node drain --wait` for each outcome of the drain.

import { expect, test } from 'vitest'
import { invocation, scriptClient, scriptTerminal } from '../../terminal/scripted-terminal.fixture.ts'
import { describeNode } from '../describe-node.ts'
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
async function drain(after: {
  readonly schedulable: boolean
  readonly draining?: boolean
  readonly drainBlockedBy?: string[]
}) {
  const terminal = scriptTerminal()
  const client = scriptClient({
    'GET /nodes?limit=500': { items: [{ ...NODE, ...after }], nextCursor: null },
    'GET /deployments?limit=500': { items: [], nextCursor: null },
    [`POST /nodes/${ID}/drain`]: { ...NODE, schedulable: false, draining: true },
  })
  const typed = { wait: true, 'wait-timeout': '0s' }
  const exitCode = await nodeDrain.run(invocation(terminal, ['n1'], typed), client)
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

test('node drain --wait shows which volumes keep the node, with what to do', async () => {
  const drainBlockedBy = [
    'volume data has no current copy on a node that accepts its primary: add a copy of data',
    'volume logs is Degraded and must be Ready first',
  ]
  expect(await drain({ schedulable: false, draining: true, drainBlockedBy })).toEqual({
    exitCode: 4,
    out: 'node/n1 draining\n',
    err: `  waits: volume data has no current copy on a node that accepts its primary: add a copy of data
  waits: volume logs is Degraded and must be Ready first
error: n1 cannot be emptied yet; volume data has no current copy on a node that accepts its primary: add a copy of data; volume logs is Degraded and must be Ready first
`,
  })
})

test('describe node shows which volumes a drain waits for', async () => {
  const terminal = scriptTerminal()
  const drainBlockedBy = [
    'volume data has no current copy on a node that accepts its primary: add a copy of data',
  ]
  const node = { ...NODE, schedulable: false, draining: true, drainBlockedBy }
  const client = scriptClient({
    'GET /nodes?limit=500': { items: [node], nextCursor: null },
    'GET /deployments?limit=500': { items: [], nextCursor: null },
    'GET /events?subject=n1&limit=5': { items: [], nextCursor: '1-0' },
  })
  expect(await describeNode(terminal, client, { name: 'n1', events: 5 })).toBe(0)
  expect(terminal.printed.out).toBe(`Name:          n1
Status:        ready
New replicas:  draining
Replicas:      0
Capacity:      cpu 1, memory 1B
Engine:        29.5.1
Id:            ${ID}

Drain waits for:
  volume data has no current copy on a node that accepts its primary: add a copy of data
`)
})

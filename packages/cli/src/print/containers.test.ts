import type { FailingContainer, NodeId, PlacementEntry } from '@holdfast/contract'
import { expect, test } from 'vitest'
import { lastExitText, replicaState } from './containers.ts'

const NOW = Date.parse('2026-01-31T12:00:00Z')
const at = '2026-01-31T11:59:57Z'
const entry = (parts: Partial<PlacementEntry>): PlacementEntry => ({
  replica: 1,
  nodeId: 'node_1' as NodeId,
  nodeName: 'n1',
  state: 'running',
  containerId: null,
  startedAt: null,
  revision: 1,
  ...parts,
})
const failing = (reason: string, cause: string): FailingContainer[] => [
  { ...entry({}), replica: 1, revision: 1, reason, cause, restarts: 1 },
]
const OOM = { code: 137, signal: 'SIGKILL', oomKilled: true, oomLimitBytes: 6_291_456, at }

test.each<[string, Partial<PlacementEntry>, FailingContainer[]]>([
  ['', {}, []],
  ['42, 3s ago', { reason: 'exited', lastExit: { code: 42, at } }, failing('exited', 'exited with code 42')],
  ['42, 3s ago', { state: 'ready', lastExit: { code: 42, at } }, []],
  ['SIGTERM, 3s ago', { lastExit: { code: 143, signal: 'SIGTERM', at } }, []],
  ['OOM-killed at 6 MiB, 3s ago', { reason: 'exited', lastExit: OOM }, failing('', 'OOM-killed at 6 MiB')],
  ['OOM-killed, 3s ago', { state: 'ready', lastExit: OOM }, []],
  ['check failed: wget: not found', { reason: 'unhealthy', cause: 'wget: not found' }, []],
  [
    '255, 3s ago: exec format error',
    { reason: 'exited', cause: 'exec format error', lastExit: { code: 255, at } },
    [],
  ],
  [
    'cannot start: no such file',
    { reason: 'start_failed' },
    failing('start_failed', 'cannot start: no such file'),
  ],
])('the last exit is shown as "%s"', (text, parts, containers) =>
  expect(lastExitText(entry(parts), containers, NOW)).toBe(text),
)

test.each<[string, Partial<PlacementEntry>]>([
  ['running', {}],
  ['running', { reason: 'unhealthy' }],
  ['ready', { state: 'ready', lastExit: { code: 7, at } }],
  ['restarting', { reason: 'exited', lastExit: { code: 7, at } }],
  ['restarting', { state: 'ready', reason: 'exited' }],
  ['starting', { state: 'starting', reason: 'exited' }],
  ['lost', { state: 'lost', reason: 'exited' }],
])('the state %s is shown for %o', (text, parts) => expect(replicaState(entry(parts))).toBe(text))

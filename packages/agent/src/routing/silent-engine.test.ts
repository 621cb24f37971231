// The node's router while the engine is silent. The agent cannot list its containers, so the status that it last saw
// proves nothing, and the router follows the server: it replaces lost replicas elsewhere, or marks them as lost.

import {
  type AssignmentId,
  type DesiredItem,
  decode,
  deploymentUidOf,
  type RoutedDeployment,
  routedDeploymentShape,
} from '@holdfast/contract'
import { waitUntil } from '@holdfast/testkit'
import pino from 'pino'
import { onTestFinished, test } from 'vitest'
import { createDockerEngine } from '../adapters/docker/docker-engine.ts'
import { desiredItem } from '../fixtures/agent.fixture.ts'
import { createReplicaStatusTable } from '../observe/replica-status-table.ts'
import type { Backend } from '../ports/router.ts'
import { startRouting } from './start-routing.ts'

const IMAGE = `registry.example.com/web@sha256:${'a'.repeat(64)}`
const ADDRESS = '10.208.0.2'
const PEER = 'other:8081'
const STARTED = '2026-01-01T00:00:00Z'
const ITEM = desiredItem(IMAGE)

const routed = (over: Partial<RoutedDeployment>): RoutedDeployment =>
  decode(routedDeploymentShape, {
    deployment: deploymentUidOf(ITEM.owner),
    name: 'web',
    routes: [{ host: 'web.test', path: '/', port: 80 }],
    peers: [PEER],
    ...over,
  })

/** A node that serves a ready replica, and whose engine answers nothing from now on. */
function servingNode() {
  let written: readonly Backend[] = []
  const desired = new Map<AssignmentId, DesiredItem>()
  const statuses = createReplicaStatusTable(1)
  statuses.reportTo(() => {})
  const routing = startRouting({
    engine: createDockerEngine('/nowhere/docker.sock'),
    admin: {
      readUpstreams: async () => new Map(),
      async writeUpstreams(backends) {
        written = backends
      },
      load: async () => {},
      probe: async () => true,
      requestsInFlight: async () => new Map(),
    },
    desired,
    view: statuses.view,
    report: () => {},
    monotonicMs: () => performance.now(),
    log: pino({ level: 'silent' }),
  })
  onTestFinished(routing.close)
  const send = (items: readonly DesiredItem[], route: RoutedDeployment): void => {
    desired.clear()
    for (const item of items) desired.set(item.assignmentId, item)
    statuses.setItems(desired)
    routing.apply({ complete: true, routes: [route] })
  }
  send([ITEM], routed({}))
  statuses.update(ITEM.assignmentId, {
    readySince: STARTED,
    container: {
      ...{ id: 'c1', state: 'running', startedAt: STARTED, exitCode: null },
      ...{ restarts: 0, health: 'none', address: ADDRESS },
    },
  })
  const forwardsTo = (expected: string): Promise<true> =>
    waitUntil(() => (written[0]?.local.join() || written[0]?.peers.join() || 'none') === expected, {
      what: `the router forwards to ${expected}`,
      timeoutMs: 3_000,
    })
  return { send, forwardsTo }
}

const REPLACEMENTS: readonly [string, readonly DesiredItem[]][] = [
  ['must be removed', [{ ...ITEM, generation: 2, desired: 'removed' }]],
  ['is no longer desired', []],
]
test.each(REPLACEMENTS)('forwards to other nodes when a replaced replica %s', async (_, items) => {
  const { send, forwardsTo } = servingNode()
  await forwardsTo(ADDRESS)
  send(items, routed({}))
  await forwardsTo(PEER)
})

// No node has room for a successor, so the server keeps the replica and only marks it.
test.each([
  ['forwards to other nodes while its replica is lost', { lost: true }, PEER],
  ['keeps a lost replica that no other node stands in for', { lost: true, peers: [] }, ADDRESS],
])('%s', async (_, route, expected) => {
  const { send, forwardsTo } = servingNode()
  await forwardsTo(ADDRESS)
  send([ITEM], routed(route))
  await forwardsTo(expected)
  send([ITEM], routed({}))
  await forwardsTo(ADDRESS)
})

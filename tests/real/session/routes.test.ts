// Routes that nodes receive over the real protocol: every deployment of the tenant with a route, and the other nodes on
// which that deployment is ready.

import { execFileSync } from 'node:child_process'
import {
  type Assignment,
  type DeploymentUid,
  type NodeId,
  type Observation,
  ownerOf,
  type Route,
  type ServerMessage,
  type TenantId,
} from '@holdfast/contract'
import { deployments, nodes } from '@holdfast/server/store/records'
import { aDeployment, aSpec } from '@holdfast/server/store/records.fixture'
import type { Store } from '@holdfast/server/store/store'
import { inTenant, placementAt } from '@holdfast/server/store/transaction'
import { waitUntil } from '@holdfast/testkit'
import { gatewayForTest, gatewaysForTest } from '@holdfast/testkit/session/gateways'
import { createHeldWatch } from '@holdfast/testkit/session/held-watch'
import { type OpenAgent, openRaw } from '@holdfast/testkit/session/raw-agent'
import { nodeRecord, observationOf, storedEvents } from '@holdfast/testkit/session/read-records'
import {
  addTenant,
  anAssignment,
  aPlacement,
  type EnrolledNode,
  enroll,
  place,
  write,
} from '@holdfast/testkit/session/session-records'
import { describe, expect, test } from 'vitest'

const ROUTE: Route = { host: 'shop.example', path: '/', port: 8080 }

/** Writes a deployment with routes, as the API would. */
function route(
  store: Store,
  tenant: TenantId,
  uid: DeploymentUid,
  routes: Route[] = [ROUTE],
  changes: { readonly name?: string; readonly deleting?: boolean } = {},
) {
  const { name = 'web', deleting = false } = changes
  const record = aDeployment(name, { uid, deleting, spec: { ...aSpec(name), routes } })
  return write(store, (transaction) => transaction.put(inTenant(tenant, deployments, name), record))
}

const seen = ({ id }: Assignment, state: Observation['state'], seq: number, reason = ''): Observation => ({
  assignmentId: id,
  generation: 1,
  seq,
  state,
  reason,
  containerId: 'c',
  startedAt: null,
  exitCode: null,
  restarts: 0,
  gone: false,
})

const report = (agent: OpenAgent, ...observations: Observation[]) =>
  agent.send({ type: 'status', session: agent.session, observations })

/** Sends a report after the agent received the assignment. The gateway drops reports of assignments unknown to it. */
async function reportReceived(agent: OpenAgent, observation: Observation): Promise<void> {
  const hasIt = () =>
    agent.heard.some(
      (message) =>
        message.type === 'delta' &&
        message.items.some(({ assignmentId }) => assignmentId === observation.assignmentId),
    )
  await waitUntil(hasIt, { what: 'the assignment is received' })
  report(agent, observation)
}

/** Waits for the next route change that the agent receives. */
function nextRoutes(agent: OpenAgent) {
  let from = 0
  return async () =>
    waitUntil(
      () => {
        for (; from < agent.heard.length; from += 1) {
          const message = agent.heard[from]
          if (message?.type !== 'delta' || (message.routes ?? message.unrouted) === undefined) continue
          from += 1
          return message
        }
        return undefined
      },
      { what: 'routes are received', timeoutMs: 10_000 },
    )
}

interface Opened {
  readonly node: EnrolledNode
  readonly agent: OpenAgent
  readonly nextRoutes: ReturnType<typeof nextRoutes>
  readonly address: string
}

async function openRouter(url: string, store: Store, tenant: TenantId, n: number): Promise<Opened> {
  const address = `10.0.0.${n}:8443`
  const node = await enroll(store, tenant)
  const agent = await openRaw(url, node, { peerAddress: address })
  return { node, agent, nextRoutes: nextRoutes(agent), address }
}

const completeRoutes = (agent: OpenAgent) => {
  const message = agent.heard.find(({ type }) => type === 'complete')
  return message?.type === 'complete' ? message.routes : undefined
}

test('peers appear when a replica on another node becomes ready and vanish when it is not', async () => {
  const { url, store } = await gatewayForTest()
  const tenant = await addTenant(store)
  const one = await openRouter(url, store, tenant, 1)
  const two = await openRouter(url, store, tenant, 2)
  expect(completeRoutes(one.agent)).toEqual([])
  const replica = anAssignment(one.node.nodeId)
  const uid = await place(store, tenant, [replica])
  await route(store, tenant, uid)
  const routed = { deployment: uid, name: 'web', routes: [ROUTE] }
  expect((await two.nextRoutes()).routes).toEqual([{ ...routed, peers: [] }])
  expect((await one.nextRoutes()).routes).toEqual([{ ...routed, peers: [] }])

  report(one.agent, seen(replica, 'ready', 1))
  expect((await two.nextRoutes()).routes).toEqual([{ ...routed, peers: [one.address] }])
  report(one.agent, seen(replica, 'ready', 2, 'unhealthy'))
  expect((await two.nextRoutes()).routes).toEqual([{ ...routed, peers: [] }])
  report(one.agent, seen(replica, 'ready', 3))
  expect((await two.nextRoutes()).routes).toEqual([{ ...routed, peers: [one.address] }])

  const three = await openRouter(url, store, tenant, 3)
  expect(completeRoutes(three.agent)).toEqual([{ ...routed, peers: [one.address] }])

  await route(store, tenant, uid, [{ ...ROUTE, path: '/api' }])
  expect((await two.nextRoutes()).routes).toMatchObject([
    { routes: [{ path: '/api' }], peers: [one.address] },
  ])
  await place(store, tenant, [{ ...replica, desired: 'stopped' }], uid)
  expect((await two.nextRoutes()).routes).toMatchObject([{ peers: [] }])
  await route(store, tenant, uid, [ROUTE], { deleting: true })
  expect(await two.nextRoutes()).toMatchObject({ unrouted: [uid], items: [] })
  // Node `one` got two messages with routes, one for each change of the route, and none for changes of its own replica.
  const own = one.agent.heard.filter((message) => message.type === 'delta' && 'routes' in message)
  expect(own).toHaveLength(2)
})

test('a node receives the new peer no later than the stop of its own replica', async () => {
  const late = createHeldWatch()
  const [here, there] = await gatewaysForTest({ wrap: late.wrap }, {})
  const { store } = there
  const tenant = await addTenant(store)
  await here.store.fresh()
  const one = await openRouter(here.url, store, tenant, 1)
  const two = await openRouter(there.url, store, tenant, 2)
  const [old, fresh] = [anAssignment(one.node.nodeId), anAssignment(two.node.nodeId)]
  const uid = await place(store, tenant, [old, fresh])
  await reportReceived(one.agent, seen(old, 'ready', 1))
  await route(store, tenant, uid)
  expect((await one.nextRoutes()).routes).toMatchObject([{ peers: [] }])
  // The watch of the first node's server replica is held, so that it sees the following changes at the same time.
  late.hold()
  await reportReceived(two.agent, seen(fresh, 'ready', 1))
  await waitUntil(async () => (await observationOf(store, tenant, fresh.id))?.state === 'ready', {
    what: 'the new one is ready',
  })
  await place(store, tenant, [{ ...old, desired: 'removed' }, fresh], uid)
  late.release()
  expect((await one.nextRoutes()).routes).toMatchObject([{ peers: [two.address] }])
  const at = (what: (delta: Extract<ServerMessage, { type: 'delta' }>) => boolean) =>
    one.agent.heard.findIndex((message) => message.type === 'delta' && what(message))
  const isToStop = () => at(({ items }) => items.some(({ desired }) => desired === 'removed'))
  await waitUntil(() => isToStop() >= 0, { what: 'the old one is to stop' })
  // The first node gets the new peer in the same message as the stop of its own replica, or in an earlier one.
  expect(at(({ routes = [] }) => routes.some(({ peers }) => peers.length > 0))).toBeLessThanOrEqual(
    isToStop(),
  )
})

test('changes of one transaction arrive in one message with routes and items', async () => {
  const { url, store } = await gatewayForTest()
  const tenant = await addTenant(store)
  const one = await openRouter(url, store, tenant, 1)
  const replica = anAssignment(one.node.nodeId)
  const uid = `dep_${'0'.repeat(26)}` as DeploymentUid
  const placement = aPlacement([replica], uid)
  const record = aDeployment('web', { uid, spec: { ...aSpec('web'), routes: [ROUTE] } })
  await write(store, (transaction) => {
    transaction.put(placementAt(tenant, placement.owner), placement)
    transaction.put(inTenant(tenant, deployments, 'web'), record)
  })
  const { items, routes } = await one.nextRoutes()
  expect(items).toMatchObject([{ assignmentId: replica.id }])
  expect(routes).toMatchObject([{ deployment: uid }])
})

test('an unreachable node is a peer of no other node until it is back', async () => {
  const times = { unreachableMs: 400, failedMs: 60_000, sweepMs: 20 }
  const { url, store } = await gatewayForTest({ times })
  const tenant = await addTenant(store)
  const one = await openRouter(url, store, tenant, 1)
  const two = await openRouter(url, store, tenant, 2)
  const heartbeatOf = ({ agent }: Opened) =>
    setInterval(() => agent.send({ type: 'heartbeat', session: agent.session }), 50)
  // The first node sends heartbeats too, until the second node has it as a peer, because the writes may be slow.
  const [firstHeartbeats, secondHeartbeats] = [heartbeatOf(one), heartbeatOf(two)]
  const replica = anAssignment(one.node.nodeId)
  const uid = await place(store, tenant, [replica])
  await reportReceived(one.agent, seen(replica, 'ready', 1))
  await route(store, tenant, uid)
  try {
    await waitUntil(async () => (await two.nextRoutes()).routes?.[0]?.peers.length === 1, {
      what: 'it is a peer',
    })
    clearInterval(firstHeartbeats)
    await waitUntil(async () => (await two.nextRoutes()).routes?.[0]?.peers.length === 0, {
      what: 'it is none',
    })
    expect((await nodeRecord(store, one.node)).status).toBe('unreachable')
    await openRaw(url, one.node, { peerAddress: '10.0.0.9:1' })
    expect((await two.nextRoutes()).routes).toMatchObject([{ peers: ['10.0.0.9:1'] }])
  } finally {
    for (const each of [firstHeartbeats, secondHeartbeats]) clearInterval(each)
  }
})

test('two server replicas send the same routes, each to its own nodes', async () => {
  const [here, there] = await gatewaysForTest({}, {})
  const tenant = await addTenant(here.store)
  await there.store.fresh()
  const one = await openRouter(here.url, here.store, tenant, 1)
  const two = await openRouter(there.url, here.store, tenant, 2)
  const replica = anAssignment(one.node.nodeId)
  const uid = await place(here.store, tenant, [replica])
  await route(here.store, tenant, uid)
  await two.nextRoutes()
  await reportReceived(one.agent, seen(replica, 'ready', 1))
  expect((await two.nextRoutes()).routes).toMatchObject([{ deployment: uid, peers: [one.address] }])
})

test('no route of one tenant is sent to the nodes of another', async () => {
  const { url, store } = await gatewayForTest()
  const [acme, globex] = [await addTenant(store), await addTenant(store)]
  const ours = await openRouter(url, store, acme, 1)
  const theirs = await openRouter(url, store, globex, 2)
  const [mine, foreign] = [anAssignment(ours.node.nodeId), anAssignment(theirs.node.nodeId)]
  const uid = await place(store, acme, [mine])
  await route(store, acme, uid)
  await place(store, globex, [foreign], uid)
  await route(store, globex, uid, [{ ...ROUTE, port: 1 }])
  await reportReceived(ours.agent, seen(mine, 'ready', 1))
  await reportReceived(theirs.agent, seen(foreign, 'ready', 1))
  await waitUntil(() => observationOf(store, globex, foreign.id), { what: 'it is stored' })
  const later = await openRouter(url, store, globex, 3)
  expect(completeRoutes(later.agent)?.[0]?.peers).toEqual([theirs.address])
  await theirs.nextRoutes()
  const text = JSON.stringify([...theirs.agent.heard, ...later.agent.heard])
  expect(text).not.toContain(ours.address)
  expect(text).not.toContain('"port":8080')
})

describe('the peer address of a router', () => {
  test.each(['10.0.0.1:8443', '[2001:db8::1]:443', 'node-1.example:65535', 'localhost:1'])(
    'is stored: %s',
    async (address) => {
      const { url, store } = await gatewayForTest()
      const node = await enroll(store, await addTenant(store))
      const agent = await openRaw(url, node, { peerAddress: address })
      expect((await nodeRecord(store, node)).peerAddress).toBe(address)
      expect(completeRoutes(agent)).toEqual([])
    },
  )

  test.each([
    ...[
      '',
      ':80',
      '10.0.0.1',
      '10.0.0.1:',
      '10.0.0.1:0',
      '10.0.0.1:65536',
      '10.0.0.1:80:80',
      '10.0.0.256:80',
    ],
    ...[
      'http://10.0.0.1:80',
      '10.0.0.1:80/x',
      'a b:80',
      '[::1%eth0]:80',
      '::1:80',
      '-a:80',
      'user@a:80',
      'a\n:80',
    ],
    `${'x'.repeat(60)}.`.repeat(5) + ':80',
  ])('is rejected for %j: the session opens, and the node routes nothing', async (address) => {
    const { url, store, logged } = await gatewayForTest()
    const node = await enroll(store, await addTenant(store), { peerAddress: '10.0.0.1:1' })
    const agent = await openRaw(url, node, { peerAddress: address })
    expect((await nodeRecord(store, node)).peerAddress).toBeUndefined()
    expect(completeRoutes(agent)).toBeUndefined()
    expect(logged.filter((line) => line.includes('invalid peer address'))).toHaveLength(1)
  })

  const unusable = [
    ['127.0.0.1:80', 'loopback'],
    ['localhost:80', 'loopback'],
    ['[::1]:80', 'loopback'],
    ['[fe80::1]:80', 'link-local'],
    ['224.0.0.1:80', 'multicast'],
    ['0.0.0.0:80', 'unspecified'],
    ['169.254.169.254:80', 'metadata'],
  ] as const
  test.each(unusable)(
    'is rejected for %s in a tenant with other nodes, with one event',
    async (address, kind) => {
      const { url, store, logged } = await gatewayForTest()
      const tenant = await addTenant(store)
      const node = await enroll(store, tenant)
      const stated = { peerAddress: address, securePeerAddress: address, agentPeerAddress: address }
      // The only node of a tenant has no peers that could use the address.
      await openRaw(url, node, stated)
      expect(await nodeRecord(store, node)).toMatchObject({ peerAddress: address, agentPeerAddress: address })
      await enroll(store, tenant)
      for (const session of [2, 3]) {
        const agent = await openRaw(url, node, stated)
        expect(agent.session).toBe(session)
      }
      const record = await nodeRecord(store, node)
      expect([record.peerAddress, record.agentPeerAddress, record.secureRouter]).toEqual(Array(3))
      const events = (await storedEvents(store, tenant)).filter(({ type }) => type === 'node.address_refused')
      expect(events).toMatchObject([
        {
          severity: 'warning',
          reason: kind,
          message: expect.stringContaining(`--peer-address ${address} (${kind})`),
          data: {
            refused: Array(3).fill({ received: address, kind }),
            fix: expect.stringContaining('10.0.0.5'),
          },
        },
      ])
      expect(logged.filter((line) => line.includes('invalid peer address'))).toHaveLength(6)
    },
  )

  test('is removed by a session without one, and the node then receives no routes', async () => {
    const { url, store, gateway } = await gatewayForTest()
    const tenant = await addTenant(store)
    const one = await openRouter(url, store, tenant, 1)
    const two = await openRouter(url, store, tenant, 2)
    const replica = anAssignment(one.node.nodeId)
    const uid = await place(store, tenant, [replica])
    await reportReceived(one.agent, seen(replica, 'ready', 1))
    await route(store, tenant, uid)
    await waitUntil(async () => (await two.nextRoutes()).routes?.[0]?.peers.length === 1, {
      what: 'it is a peer',
    })
    const again = await openRaw(url, one.node)
    expect((await two.nextRoutes()).routes).toMatchObject([{ peers: [] }])
    expect(completeRoutes(again)).toBeUndefined()
    const { deltas } = gateway.counts
    await route(store, tenant, uid, [])
    expect((await two.nextRoutes()).unrouted).toEqual([uid])
    expect(gateway.counts.deltas).toBe(deltas + 1)
  })
})

describe('the certificate of a router', () => {
  /** A certificate of openssl, as base64 of DER. */
  const certificate = (curve = 'prime256v1'): string => {
    const key = ['-newkey', 'ec', '-pkeyopt', `ec_paramgen_curve:${curve}`, '-nodes', '-keyout', '/dev/null']
    const words = ['-subj', '/CN=x', '-addext', 'basicConstraints=critical,CA:FALSE', '-outform', 'DER']
    return execFileSync('openssl', ['req', '-x509', ...key, ...words], {
      stdio: ['ignore', 'pipe', 'ignore'],
    }).toString('base64')
  }
  const secureHello = (n: number, peerCertificate = certificate()) => ({
    peerAddress: `10.0.0.${n}:8081`,
    securePeerAddress: `10.0.0.${n}:7843`,
    peerCertificate,
  })
  const asRouter = ({ peerAddress, securePeerAddress, peerCertificate }: ReturnType<typeof secureHello>) => ({
    address: peerAddress,
    secureAddress: securePeerAddress,
    certificates: [peerCertificate],
  })
  const routersOf = (agent: OpenAgent) =>
    agent.heard.flatMap((message) =>
      message.type === 'complete' || message.type === 'delta' ? (message.routers ?? []) : [],
    )
  const untilRouters = (agent: OpenAgent, count: number) =>
    waitUntil(() => (routersOf(agent).length >= count ? routersOf(agent).at(-1) : undefined), {
      what: 'routers are received',
    })

  test('reaches the other nodes of the tenant alone, and leaves with its node', async () => {
    const { url, store } = await gatewayForTest()
    const [acme, globex] = [await addTenant(store), await addTenant(store)]
    const [first, second, foreign] = [secureHello(1), secureHello(2), secureHello(3)]
    const one = await openRaw(url, await enroll(store, acme), first)
    const node = await enroll(store, acme)
    const theirs = await openRaw(url, await enroll(store, globex), foreign)
    expect(routersOf(one)).toEqual([{ plain: false, others: [] }])
    const two = await openRaw(url, node, second)
    expect(routersOf(two)).toEqual([{ plain: false, others: [asRouter(first)] }])
    expect(await untilRouters(one, 2)).toEqual({ plain: false, others: [asRouter(second)] })
    expect((await nodeRecord(store, node)).secureRouter).toMatchObject({
      address: second.securePeerAddress,
      certificates: [second.peerCertificate],
    })
    await write(store, (transaction) => transaction.delete(inTenant(acme, nodes, node.nodeId)))
    expect(await untilRouters(one, 3)).toEqual({ plain: false, others: [] })
    expect(routersOf(theirs)).toEqual([{ plain: false, others: [] }])
  })

  test.each([
    ['stays for a while', undefined, true],
    ['ends when that while is over', 0, false],
  ])('after the last router has one, plain HTTP %s', async (_, plainPeersMs, plain) => {
    const given = plainPeersMs === undefined ? {} : { plainPeersMs }
    const { url, store } = await gatewayForTest({
      times: { ...given, resyncMs: 100, sweepMs: 20, reopenMs: 0 },
    })
    const tenant = await addTenant(store)
    const one = await openRaw(url, await enroll(store, tenant), secureHello(1))
    const node = await enroll(store, tenant)
    const { peerAddress } = secureHello(2)
    const isPlain = () => routersOf(one).at(-1)?.plain
    const older = await openRaw(url, node, { peerAddress })
    await waitUntil(() => isPlain() === true, { what: 'plain HTTP is accepted' })
    expect(routersOf(older)).toEqual([])
    await openRaw(url, node, secureHello(2))
    const known = () => routersOf(one).findLast(({ others }) => others !== undefined)?.others
    await waitUntil(() => known()?.[0]?.secureAddress, { what: 'the certificate is known' })
    expect(isPlain()).toBe(plain)
    // Later complete sets repeat only whether plain HTTP is accepted. The list was sent when it changed.
    const count = routersOf(one).length
    await untilRouters(one, count + 2)
    expect(routersOf(one).slice(count)).toEqual(
      routersOf(one)
        .slice(count)
        .map(() => ({ plain })),
    )
    expect(routersOf(one).filter(({ others }) => others !== undefined)).toHaveLength(3)
    await openRaw(url, node, { peerAddress })
    await waitUntil(() => isPlain() === true, { what: 'an older agent is back' })
  })

  test.each([
    ['another curve', () => secureHello(1, certificate('secp384r1'))],
    ['no certificate', () => secureHello(1, 'x')],
    ['no address', () => ({ ...secureHello(1), securePeerAddress: 'x' })],
  ])('is refused with %s: the session opens, and the node uses plain HTTP', async (_, hello) => {
    const { url, store, logged } = await gatewayForTest()
    const node = await enroll(store, await addTenant(store))
    const agent = await openRaw(url, node, hello())
    expect((await nodeRecord(store, node)).secureRouter).toBeUndefined()
    expect(completeRoutes(agent)).toEqual([])
    expect(routersOf(agent)).toEqual([])
    expect(logged.filter((line) => line.includes('invalid router certificate'))).toHaveLength(1)
  })
})

test('an unreadable deployment removes no route: the complete set omits routes', async () => {
  const { url, store, engine } = await gatewayForTest({ times: { resyncMs: 100, sweepMs: 20 } })
  const tenant = await addTenant(store)
  const one = await openRouter(url, store, tenant, 1)
  const uid = await place(store, tenant, [anAssignment(one.node.nodeId)])
  await route(store, tenant, uid)
  await one.nextRoutes()
  const key = store.keyspace.tenantKey(tenant, deployments.folder, 'web')
  const success = [{ kind: 'put' as const, key, value: Buffer.from('{}') }]
  await engine.transact({ compares: [], success, failure: [] })
  const silent = await waitUntil(
    () => one.agent.heard.findLast((message) => message.type === 'complete' && !('routes' in message)),
    { what: 'a complete set without routes' },
  )
  expect(silent).toMatchObject({ items: [{ owner: ownerOf('deployment', uid) }] })
  expect((await one.nextRoutes()).routes).toMatchObject([{ deployment: uid }])
  const unrouted = one.agent.heard.filter((message) => message.type === 'delta' && 'unrouted' in message)
  expect(unrouted).toEqual([])
})

test('nodes without changes receive nothing, however many routes their tenant has', async () => {
  const { url, store, gateway } = await gatewayForTest()
  const [acme, globex] = [await addTenant(store), await addTenant(store)]
  const routers = await Promise.all([1, 2, 3].map((n) => openRouter(url, store, acme, n)))
  const [one] = routers
  if (one === undefined) throw new Error('no router')
  for (let n = 0; n < 30; n += 1) {
    const uid = await place(store, acme, [anAssignment(one.node.nodeId)])
    await route(store, acme, uid, [{ ...ROUTE, path: `/p${n}` }], { name: `d${n}` })
  }
  // Routes are sent in order, so a node that has received the last route has received all of them.
  const knowsAll = ({ agent }: typeof one) => JSON.stringify(agent.heard.at(-1)).includes('/p29')
  await waitUntil(() => routers.every(knowsAll), { what: 'all is received' })
  const before = gateway.counts.deltas
  const other = await enroll(store, globex)
  for (let n = 0; n < 20; n += 1) await place(store, globex, [anAssignment(other.nodeId)])
  const own = (await nodeRecord(store, one.node)) satisfies { id: NodeId }
  await write(store, (transaction) =>
    transaction.put(inTenant(acme, nodes, own.id), { ...own, labels: { disk: 'ssd' } }),
  )
  await store.fresh()
  expect(gateway.counts.deltas).toBe(before)
})

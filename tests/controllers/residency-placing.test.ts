// Residency in the controllers: which deployments wait and why, how the wait ends automatically, and what happens to
// replicas whose node no longer qualifies. The test itself writes the records that agents would write.

import type { DeploymentSpec, Event, ResidencyDemand, TenantId } from '@holdfast/contract'
import { nodes, type StoredDeployment, type StoredNode } from '@holdfast/server/store/records'
import type { Store } from '@holdfast/server/store/store'
import { inTenant } from '@holdfast/server/store/transaction'
import { uniqueName } from '@holdfast/testkit'
import { type ObedientAgents, startObedientAgents } from '@holdfast/testkit/controllers/obedient-agents'
import { createPausable } from '@holdfast/testkit/controllers/pausable-engine'
import * as world from '@holdfast/testkit/controllers/placing-world'
import { scaledTimings, UNSUSPENDED } from '@holdfast/testkit/controllers/timings'
import { openTestStore, type TestStore } from '@holdfast/testkit/store/open-test-store'
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest'

const COUNTRY = 'holdfast.io/country'
const REGIONS = { dach: ['DE', 'AT', 'CH'] }
const ON = { enforcement: true, regions: REGIONS }
const OFF = { enforcement: false, regions: REGIONS }
const GERMAN = { residency: { country: 'DE' } }
const FAST: Partial<DeploymentSpec> = { stopGracePeriod: '1s' }

let opened: TestStore
let store: Store
let tenant: TenantId
let controllers: world.Controllers
let agents: ObedientAgents | undefined

beforeEach(async () => {
  opened = await openTestStore({ root: `/${uniqueName('where')}` })
  store = opened.store
  tenant = await world.addTenant(store)
  agents = undefined
})

afterEach(async () => {
  await agents?.stop()
  await controllers.stop()
  expect(controllers.errors).toEqual([])
  opened.close()
})

const inCountry = (name: string, country: string, changes: Partial<StoredNode> = {}) =>
  world.aNode(name, { labels: { [COUNTRY]: country }, attested: { country }, ...changes })

const add = (...added: StoredNode[]) => world.addNodes(store, tenant, ...added)

async function deploy(spec: Partial<DeploymentSpec>): Promise<StoredDeployment> {
  const stored = await world.put(store, tenant, world.deploymentOf('web', { replicas: 1, ...FAST, ...spec }))
  agents = startObedientAgents(store, tenant, stored.uid, () => ({}))
  return stored
}

/** Changes a node's labels like an agent that restarts with a different configuration. */
async function relabel({ id }: StoredNode, labels: { [key: string]: string }): Promise<void> {
  await world.write(store, (transaction) => {
    const node = transaction.get(inTenant(tenant, nodes, id))
    if (node !== undefined) transaction.put(inTenant(tenant, nodes, id), { ...node, labels })
  })
}

const placement = ({ uid }: StoredDeployment) => world.placementOf(store, tenant, uid)
const phase = (stored: StoredDeployment) => placement(stored)?.reportedPhase
const reason = (stored: StoredDeployment) => placement(stored)?.shortfall?.reason
const homes = (stored: StoredDeployment) =>
  world
    .runningOf(store, tenant, stored.uid)
    .map(({ nodeId }) => store.get(inTenant(tenant, nodes, nodeId))?.record.name)
    .sort()
const running = (stored: StoredDeployment) => expect.poll(() => phase(stored)).toBe('Running')
const idle = () => expect.poll(() => controllers.placing.pending).toBe(0)

async function eventsOfType(type: string): Promise<Event[]> {
  return (await world.eventsOf(store, tenant)).filter((each) => each.type === type)
}

/** Waits until the deployment has replicas on exactly the given nodes, and no stopping replica elsewhere. */
async function settledOn(stored: StoredDeployment, ...names: string[]): Promise<void> {
  await expect.poll(() => homes(stored)).toEqual(names)
  await expect.poll(() => placement(stored)?.assignments.length).toBe(names.length)
  await idle()
}

describe('a demand that cannot be satisfied', () => {
  const cases: [string, ResidencyDemand, string][] = [
    ['another country', { country: 'DE' }, 'residency_no_match'],
    ['a region that no node is in', { region: 'dach' }, 'residency_no_match'],
    ['the only country blocked', { blockedCountries: ['FR'] }, 'residency_no_match'],
    [
      'a country blocked where it is demanded',
      { country: 'FR', blockedCountries: ['FR'] },
      'residency_no_match',
    ],
  ]
  test.each(cases)('waits: %s', async (_what, residency, expected) => {
    await add(inCountry('paris', 'FR'))
    controllers = world.startControllers(store, { residency: ON })
    const stored = await deploy({ placement: { residency } })
    await expect.poll(() => [phase(stored), reason(stored)]).toEqual(['Waiting', expected])
    await idle()
    expect(homes(stored)).toEqual([])
    // While the deployment waits for a node, its rollout makes no progress and the placement record is not rewritten.
    const { startedAt, progressedAt } = placement(stored)?.rollout ?? {}
    expect(progressedAt).toBe(startedAt)
    const events = await world.eventsOf(store, tenant)
    expect(events.map(({ type, reason: why }) => `${type} ${why}`)).toEqual([
      `deployment.unschedulable ${expected}`,
    ])
    expect(JSON.stringify(events[0]?.data)).toContain('"reported":{"holdfast.io/')
  })

  test('waits without any node, and while the matching one is unreachable', async () => {
    controllers = world.startControllers(store, { residency: ON })
    const stored = await deploy({ placement: GERMAN })
    await expect.poll(() => [phase(stored), reason(stored)]).toEqual(['Waiting', 'residency_no_match'])
    const [node] = await add(inCountry('berlin', 'DE', { status: 'unreachable' }))
    await idle()
    expect([phase(stored), reason(stored)]).toEqual(['Waiting', 'residency_no_match'])
    await world.write(store, (transaction) => {
      if (node !== undefined)
        transaction.put(inTenant(tenant, nodes, node.id), { ...node, status: 'ready', statusSince: 'now' })
    })
    await running(stored)
  })

  test('is pending and not waiting if a node matches and another filter refuses it', async () => {
    await add(inCountry('berlin', 'DE', { schedulable: false }), inCountry('paris', 'FR'))
    controllers = world.startControllers(store, { residency: ON })
    const stored = await deploy({ placement: GERMAN })
    await expect.poll(() => [phase(stored), reason(stored)]).toEqual(['Pending', 'unschedulable'])
  })

  test('is not placed while residency is not enforced, even on a matching node; running replicas stay', async () => {
    const [node] = await add(inCountry('berlin', 'DE'))
    controllers = world.startControllers(store, { residency: ON })
    const first = await deploy({ placement: GERMAN })
    await running(first)
    await controllers.stop()
    controllers = world.startControllers(store, { residency: OFF })
    const other = await world.put(store, tenant, world.deploymentOf('other', { placement: GERMAN }))
    await expect.poll(() => [phase(other), reason(other)]).toEqual(['Waiting', 'residency_enforcement_off'])
    if (node !== undefined) await relabel(node, { [COUNTRY]: 'FR' })
    await idle()
    expect([phase(first), homes(first)]).toEqual(['Running', ['berlin']])
    const matrix = (await eventsOfType('deployment.unschedulable')).at(-1)
    expect(JSON.stringify(matrix?.data)).toContain('residency_enforcement_off')
    // Once residency is enforced again, the node's label is used and the node no longer qualifies.
    await controllers.stop()
    controllers = world.startControllers(store, { residency: ON })
    await expect.poll(() => [phase(first), reason(first)]).toEqual(['Degraded', 'residency_no_match'])
    await expect.poll(() => homes(first)).toEqual([])
  })
})

test('the wait for a node ends automatically with the label that satisfies it, 20 times', async () => {
  const [node] = await add(world.aNode('somewhere', { attested: { country: 'DE' } }))
  if (node === undefined) throw new Error('no node was added')
  // The change of the labels wakes the placement: the next resync is an hour away.
  controllers = world.startControllers(store, { residency: ON, timings: UNSUSPENDED })
  // The replicas request no resources, because without an agent a stopped replica never frees its resources.
  const spec = { replicas: 1, placement: GERMAN, resources: { cpuMillis: 0, memoryBytes: 0 } }
  for (let round = 0; round < 20; round += 1) {
    await relabel(node, {})
    const stored = await world.put(store, tenant, world.deploymentOf(`web-${round}`, spec))
    await expect.poll(() => reason(stored)).toBe('residency_no_match')
    await relabel(node, { [COUNTRY]: 'DE' })
    await expect.poll(() => homes(stored)).toHaveLength(1)
  }
})

describe('a node whose labels change', () => {
  test.each(['start-first', 'stop-first'] as const)(
    'moves its replicas to another that fits, %s, with one event',
    async (order) => {
      const [one, two] = await add(
        inCountry('berlin', 'DE'),
        inCountry('bonn', 'DE'),
        inCountry('paris', 'FR'),
      )
      if (one === undefined || two === undefined) throw new Error('no nodes were added')
      controllers = world.startControllers(store, { residency: ON, timings: UNSUSPENDED })
      const update = { ...world.deploymentOf('x').spec.update, order }
      const stored = await deploy({ replicas: 4, placement: GERMAN, update })
      await running(stored)
      expect(homes(stored)).toEqual(['berlin', 'berlin', 'bonn', 'bonn'])
      agents?.fewestServed()
      await relabel(one, { [COUNTRY]: 'FR' })
      // The changed label moves the replicas: the next resync is an hour away.
      await settledOn(stored, 'bonn', 'bonn', 'bonn', 'bonn')
      await running(stored)
      expect(agents?.fewestServed()).toBe(order === 'start-first' ? 4 : 3)
      const displaced = await eventsOfType('deployment.displaced')
      expect(displaced.map(({ reason: why }) => why)).toEqual(['labels_changed', 'labels_changed'])
      expect(displaced[0]?.data).toMatchObject({
        nodeId: one.id,
        nodeName: 'berlin',
        filter: 'residency_country',
        label: COUNTRY,
        required: { [COUNTRY]: 'DE' },
        reported: { [COUNTRY]: 'FR' },
      })
      const replicas = displaced.flatMap(({ data }) => (data as { replicas: { replica: number }[] }).replicas)
      expect(new Set(replicas.map(({ replica }) => replica)).size).toBe(2)
      expect(await eventsOfType('deployment.stalled')).toEqual([])
    },
  )

  test('loses replicas that may not be there at once, even if no other node fits; they come back automatically', async () => {
    const [one] = await add(inCountry('berlin', 'DE'), inCountry('paris', 'FR'))
    if (one === undefined) throw new Error('no nodes were added')
    controllers = world.startControllers(store, { residency: ON })
    const stored = await deploy({ replicas: 2, placement: GERMAN })
    await running(stored)
    await relabel(one, { [COUNTRY]: 'FR' })
    await settledOn(stored)
    expect([phase(stored), reason(stored)]).toEqual(['Degraded', 'residency_no_match'])
    const [displaced, ...more] = await eventsOfType('deployment.displaced')
    expect(more).toEqual([])
    expect(displaced?.data).toMatchObject({
      replicas: [
        { replica: 1, to: null },
        { replica: 2, to: null },
      ],
    })
    expect(displaced?.message).toContain('must not run there and is stopped')
    const stalled = await eventsOfType('deployment.stalled')
    expect(stalled.map(({ reason: why }) => why)).toEqual(['residency_no_match'])
    await relabel(one, { [COUNTRY]: 'DE' })
    await running(stored)
    expect(homes(stored)).toEqual(['berlin', 'berlin'])
  })

  test.each(['start-first', 'stop-first'] as const)(
    'keeps replicas that a label constraint excludes while no other node fits, %s',
    async (order) => {
      const [one] = await add(
        world.aNode('a', { labels: { disk: 'ssd' } }),
        world.aNode('b', { labels: { disk: 'hdd' } }),
      )
      if (one === undefined) throw new Error('no nodes were added')
      controllers = world.startControllers(store, { residency: ON })
      const constraints = [{ label: 'disk', operator: 'in' as const, values: ['ssd'] }]
      const update = { ...world.deploymentOf('x').spec.update, order }
      const stored = await deploy({ replicas: 2, placement: { constraints }, update })
      await running(stored)
      agents?.fewestServed()
      await relabel(one, { disk: 'tape' })
      await expect.poll(() => reason(stored)).toBe('unschedulable')
      await idle()
      expect([phase(stored), homes(stored), agents?.fewestServed()]).toEqual(['Running', ['a', 'a'], 2])
      const waits = await eventsOfType('deployment.displaced')
      expect(waits).toHaveLength(1)
      expect(waits[0]).toMatchObject({
        reason: 'labels_changed',
        data: { label: 'disk', reported: { disk: 'tape' } },
      })
      await add(world.aNode('c', { labels: { disk: 'ssd' } }))
      await settledOn(stored, 'c', 'c')
      await running(stored)
      expect(agents?.fewestServed()).toBe(order === 'start-first' ? 2 : 1)
      expect(placement(stored)?.shortfall).toBeUndefined()
    },
  )

  test('loses replicas after a changed demand, with one event per move and no more', async () => {
    const [one] = await add(inCountry('berlin', 'DE'), inCountry('bonn', 'DE'), inCountry('paris', 'FR'))
    if (one === undefined) throw new Error('no nodes were added')
    controllers = world.startControllers(store, { residency: ON })
    const stored = await deploy({ replicas: 3 })
    await running(stored)
    const french = await world.revise(store, tenant, stored, { placement: { residency: { country: 'FR' } } })
    await settledOn(stored, 'paris', 'paris', 'paris')
    const first = await eventsOfType('deployment.displaced')
    expect(new Set(first.map(({ reason: why }) => why))).toEqual(new Set(['demands_changed']))
    expect(first.length).toBeGreaterThan(1)
    // A changed demand that moves no replica is followed by a changed label that does: the event must name the label.
    const blocked = { residency: { country: 'FR', blockedCountries: ['US'] } }
    await world.revise(store, tenant, french, { placement: blocked })
    await running(stored)
    await idle()
    const [paris] = store.list(nodes, tenant).filter(({ record }) => record.name === 'paris')
    if (paris === undefined) throw new Error('paris is missing')
    await relabel(paris.record, { [COUNTRY]: 'BE' })
    await settledOn(stored)
    const later = (await eventsOfType('deployment.displaced')).slice(first.length)
    expect(later.map(({ reason: why }) => why)).toEqual(['labels_changed'])
  })

  test('hands over to a newly named node without a gap, and keeps its replica while that node does not fit', async () => {
    const [first, second, closed] = await add(
      world.aNode('a'),
      world.aNode('b'),
      world.aNode('c', { schedulable: false }),
    )
    if (first === undefined || second === undefined || closed === undefined)
      throw new Error('no nodes were added')
    controllers = world.startControllers(store, { residency: ON })
    const stored = await deploy({ replicas: 2, nodeId: first.id })
    await running(stored)
    agents?.fewestServed()
    const moved = await world.revise(store, tenant, stored, { nodeId: second.id })
    await settledOn(stored, 'b', 'b')
    await running(stored)
    const leaving = await eventsOfType('deployment.displaced')
    expect(new Set(leaving.map(({ reason: why }) => why))).toEqual(new Set(['demands_changed']))
    expect(leaving[0]?.data).toMatchObject({ filter: 'named_node', required: second.id, reported: first.id })
    await world.revise(store, tenant, moved, { nodeId: closed.id })
    await expect.poll(() => reason(stored)).toBe('unschedulable')
    await idle()
    expect([phase(stored), homes(stored), agents?.fewestServed()]).toEqual(['Running', ['b', 'b'], 2])
    expect((await eventsOfType('deployment.displaced')).at(-1)?.message).toContain(
      'stays until another node accepts it',
    )
  })

  test('loses replicas one by one if each is on a separate node', async () => {
    const [one] = await add(inCountry('berlin', 'DE'), inCountry('bonn', 'DE'), inCountry('jena', 'DE'))
    if (one === undefined) throw new Error('no nodes were added')
    controllers = world.startControllers(store, { residency: ON })
    const stored = await deploy({ replicas: 2, placement: { ...GERMAN, antiAffinity: ['web'] } })
    await running(stored)
    agents?.fewestServed()
    for (const { id, name } of store.list(nodes, tenant).map(({ record }) => record)) {
      if (!homes(stored).includes(name)) continue
      await relabel({ ...one, id }, { [COUNTRY]: 'FR' })
      break
    }
    await expect.poll(async () => (await eventsOfType('deployment.displaced')).length).toBe(1)
    await expect.poll(() => placement(stored)?.assignments.length).toBe(2)
    await running(stored)
    expect(agents?.fewestServed()).toBe(2)
    expect(new Set(homes(stored)).size).toBe(2)
    // While the successor was starting, no event reported that no node fits.
    expect(await eventsOfType('deployment.stalled')).toEqual([])
  })

  test('with a full quota stops the old replica before its successor starts', async () => {
    const [one] = await add(inCountry('berlin', 'DE'))
    if (one === undefined) throw new Error('no nodes were added')
    controllers = world.startControllers(store, { residency: ON, containers: 2 })
    const stored = await deploy({ replicas: 2, placement: GERMAN })
    await running(stored)
    await add(inCountry('bonn', 'DE'))
    agents?.fewestServed()
    await relabel(one, { [COUNTRY]: 'FR' })
    await settledOn(stored, 'bonn', 'bonn')
    await running(stored)
    expect(agents?.fewestServed()).toBe(1)
  })

  test('that is drained during a paused update keeps the failed replica aside and moves the good one unchanged', async () => {
    const [one] = await add(inCountry('berlin', 'DE'))
    if (one === undefined) throw new Error('no nodes were added')
    controllers = world.startControllers(store, { residency: ON })
    const update = { ...world.deploymentOf('x').spec.update, failureAction: 'pause' as const }
    const first = await deploy({ replicas: 2, placement: GERMAN, update })
    await running(first)
    await agents?.stop()
    agents = startObedientAgents(store, tenant, first.uid, ({ environment }) =>
      environment['BROKEN'] === undefined ? {} : { state: 'running', reason: 'unhealthy' },
    )
    const second = await world.revise(store, tenant, first, { environment: { BROKEN: '1' } })
    await expect.poll(() => placement(second)?.rollout?.state).toBe('paused')
    await add(inCountry('bonn', 'DE'))
    agents.fewestServed()
    await world.write(store, (transaction) =>
      transaction.put(inTenant(tenant, nodes, one.id), {
        ...one,
        labels: { [COUNTRY]: 'FR' },
        schedulable: false,
        draining: true,
      }),
    )
    const well = () => {
      const { assignments = [], lastGood } = placement(second) ?? {}
      return assignments.filter(({ templateHash, desired, nodeId }) => {
        return templateHash === lastGood?.templateHash || (desired === 'running' && nodeId === one.id)
      })
    }
    await expect.poll(() => homes(second).filter((name) => name === 'bonn').length).toBe(2)
    await expect.poll(() => well().filter(({ nodeId }) => nodeId === one.id)).toEqual([])
    expect(agents.fewestServed()).toBe(2)
    expect(placement(second)?.rollout?.state).toBe('paused')
  })
})

test.each([
  ['without another node that fits', []],
  ['with another node that fits', ['bonn']],
])('a label that is set back before a decision is written cancels it, %s', async (_what, others) => {
  const pausable = createPausable()
  const root = `/${uniqueName('where')}`
  const own = await openTestStore({ root, wrap: pausable.wrap })
  const outside = await openTestStore({ root })
  onTestFinished(() => {
    own.close()
    outside.close()
  })
  store = outside.store
  tenant = await world.addTenant(store)
  const [node] = await add(inCountry('berlin', 'DE'))
  if (node === undefined) throw new Error('no node was added')
  controllers = world.startControllers(own.store, { residency: ON, timings: scaledTimings(10) })
  const stored = await deploy({ placement: GERMAN })
  await running(stored)
  await add(...others.map((name) => inCountry(name, 'DE')))
  const before = placement(stored)?.assignments
  const heard = () => own.store.get(inTenant(tenant, nodes, node.id))?.record.labels
  pausable.pause('writes')
  await relabel(node, { [COUNTRY]: 'FR' })
  await expect.poll(() => [heard(), controllers.placing.pending]).toEqual([{ [COUNTRY]: 'FR' }, 1])
  await relabel(node, { [COUNTRY]: 'DE' })
  await expect.poll(heard).toEqual({ [COUNTRY]: 'DE' })
  pausable.resume()
  await idle()
  await store.fresh()
  expect(placement(stored)?.assignments).toEqual(before)
  expect(await eventsOfType('deployment.displaced')).toEqual([])
})

describe('a deployment whose demand changes', () => {
  test.each([
    ['stops replicas that fit nowhere', 'DE', []],
    ['moves replicas that fit elsewhere', 'DE', ['DE', 'DE']],
  ])('on more nodes than a transaction compares %s', async (_what, country, others) => {
    const many = 130
    for (let from = 0; from < many; from += 26)
      await add(...Array.from({ length: 26 }, (_, at) => inCountry(`n-${from + at}`, 'FR')))
    controllers = world.startControllers(store, { residency: ON })
    const update = { ...world.deploymentOf('x').spec.update, parallelism: 100 }
    const resources = { cpuMillis: 1, memoryBytes: 0 }
    const first = await world.put(
      ...([store, tenant, world.deploymentOf('web', { replicas: many, update, resources })] as const),
    )
    const all = () => placement(first)?.assignments ?? []
    /** Reports for 50 replicas at a time, because one report is one transaction and its size is limited. */
    const act = async (): Promise<void> => {
      for (let from = 0; from < all().length; from += 50) {
        const part = all().slice(from, from + 50)
        const [stay, go] = [true, false].map((is) =>
          part.filter(({ desired }) => (desired === 'running') === is),
        )
        await world.observe(store, tenant, first.uid, stay ?? [], {})
        await world.observe(store, tenant, first.uid, go ?? [], { state: 'stopped', gone: true })
      }
    }
    await expect.poll(() => all().length).toBe(many)
    expect(new Set(homes(first)).size).toBe(many)
    await act()
    await running(first)
    await add(...others.map((each, at) => inCountry(`other-${at}`, each)))
    const second = await world.revise(store, tenant, first, { placement: { residency: { country } } })
    const left = others.length === 0 ? 0 : many
    await expect
      .poll(
        async () => {
          await act()
          return [all().length, homes(second).filter((name) => name?.startsWith('n-')).length]
        },
        { timeout: 30_000 },
      )
      .toEqual([left, 0])
  })

  test('moves replicas that no longer qualify, though their template is the same', async () => {
    await add(inCountry('paris', 'FR'))
    controllers = world.startControllers(store, { residency: ON })
    const first = await deploy({ replicas: 2 })
    await running(first)
    await add(inCountry('berlin', 'DE'))
    agents?.fewestServed()
    const second = await world.revise(store, tenant, first, { placement: GERMAN })
    await settledOn(second, 'berlin', 'berlin')
    await running(second)
    expect(agents?.fewestServed()).toBe(2)
    const constraints = [{ label: COUNTRY, operator: 'notIn' as const, values: ['DE'] }]
    const third = await world.revise(store, tenant, second, { placement: { constraints } })
    await settledOn(third, 'paris', 'paris')
    expect(agents?.fewestServed()).toBe(2)
    const hashes = (await eventsOfType('deployment.progressing')).filter(
      ({ reason: why }) => why === 'rollout_started',
    )
    expect(hashes).toEqual([])
  })

  test('and its template at once gets both, without an interruption', async () => {
    await add(inCountry('paris', 'FR'), inCountry('berlin', 'DE'))
    controllers = world.startControllers(store, { residency: ON })
    const first = await deploy({ replicas: 3 })
    await running(first)
    agents?.fewestServed()
    const second = await world.revise(store, tenant, first, {
      placement: GERMAN,
      environment: { A: '2' },
    })
    await settledOn(second, 'berlin', 'berlin', 'berlin')
    expect(agents?.fewestServed()).toBe(3)
    expect(new Set(placement(second)?.assignments.map(({ revision }) => revision))).toEqual(new Set([2]))
  })
})

// Reports about an unavailable secret, on real etcd: one event for each revision, secret and cause, and a deployment
// status until the secret is available. Agents only report; the test sets the clock.

import type { DeploymentSpec, TenantId } from '@holdfast/contract'
import { deploymentView } from '@holdfast/server/operations/deployments/read/deployment-view'
import type { StoredDeployment } from '@holdfast/server/store/records'
import { sharedEtcd, uniqueName } from '@holdfast/testkit'
import { type ObedientAgents, startObedientAgents } from '@holdfast/testkit/controllers/obedient-agents'
import {
  addNodes,
  addTenant,
  aNode,
  type Controllers,
  deploymentOf,
  eventsOf,
  observe,
  placementOf,
  put,
  revise,
  runningOf,
  startControllers,
} from '@holdfast/testkit/controllers/placing-world'
import { createSetClock } from '@holdfast/testkit/controllers/set-clock'
import { openTestStore, type TestStore } from '@holdfast/testkit/store/open-test-store'
import { afterEach, beforeEach, expect, test } from 'vitest'

const DEADLINE_MS = 60_000
const SECRETS: Partial<DeploymentSpec> = {
  secrets: ['DB', 'CACHE'].map((name) => ({
    name,
    vault_path: `resources/${name.toLowerCase()}`,
    anchor: 'external',
    rotation: 'restart',
  })),
  update: { order: 'start-first', parallelism: 1, failureAction: 'rollback', progressDeadline: '60s' },
}
const waits = (about: string) => ({
  state: 'starting' as const,
  reason: 'secret_unresolved',
  about,
  containerId: null,
})

let opened: TestStore
let tenant: TenantId
let controllers: Controllers
let agents: ObedientAgents | undefined
const clock = createSetClock()

beforeEach(async () => {
  const { endpoints } = await sharedEtcd()
  opened = await openTestStore({ endpoints, root: `/${uniqueName('secrets')}` })
  tenant = await addTenant(opened.store)
  await addNodes(opened.store, tenant, aNode(uniqueName('n1')), aNode(uniqueName('n2')))
  controllers = startControllers(opened.store, { clock })
  agents = undefined
})
afterEach(async () => {
  await agents?.stop()
  await controllers.stop()
  opened.close()
  expect(controllers.errors).toEqual([])
})

const settled = () => expect.poll(() => controllers.placing.pending).toBe(0)
const unresolvedEvents = async () =>
  (await eventsOf(opened.store, tenant))
    .filter(({ type }) => type === 'secret.unresolved')
    .map(({ data }) => data)
const statusOf = (stored: StoredDeployment) => deploymentView(opened.store, tenant, stored).status
const assignmentsOf = async ({ uid, spec }: StoredDeployment) => {
  await expect.poll(() => runningOf(opened.store, tenant, uid).length).toBe(spec.replicas)
  return runningOf(opened.store, tenant, uid)
}

test('an unresolved secret emits one event for each revision, secret and cause, however often it recurs', async () => {
  const { store } = opened
  const stored = await put(store, tenant, deploymentOf('web', { replicas: 2, ...SECRETS }))
  const both = await assignmentsOf(stored)
  const report = async (about: string) => {
    await observe(store, tenant, stored.uid, both, waits(about))
    await settled()
  }
  await report('DB: denied')
  const denied = { revision: 1, secret: 'DB', vault_path: 'resources/db', cause: 'denied' }
  await expect.poll(unresolvedEvents).toEqual([denied])
  expect(statusOf(stored)).toMatchObject({ phase: 'Degraded', reason: 'secret_unresolved' })
  await expect.poll(() => placementOf(store, tenant, stored.uid)?.reportedPhase).toBe('Degraded')
  await report('CACHE: missing')
  const missing = { revision: 1, secret: 'CACHE', vault_path: 'resources/cache', cause: 'missing' }
  await expect.poll(unresolvedEvents).toEqual([denied, missing])
  const all = await eventsOf(store, tenant)
  await report('DB: denied')
  await report('CACHE: missing')
  expect(await eventsOf(store, tenant)).toEqual(all)
  await observe(store, tenant, stored.uid, both, { state: 'ready' })
  await expect.poll(() => placementOf(store, tenant, stored.uid)?.reportedPhase).toBe('Running')
  expect(statusOf(stored)).toMatchObject({ phase: 'Running', reason: '' })
  await report('DB: denied')
  expect(await unresolvedEvents()).toEqual([denied, missing])
  const second = await revise(store, tenant, stored, { replicas: 3 })
  await assignmentsOf(second)
  await expect.poll(unresolvedEvents).toEqual([denied, missing, { ...denied, revision: 2 }])
})

test('an invalid report of a node is emitted with an unknown cause, without its text', async () => {
  const { store } = opened
  const stored = await put(store, tenant, deploymentOf('web', { replicas: 1, ...SECRETS }))
  for (const about of ['OTHER: denied', 'DB: nonsense', 'x'.repeat(500), '<script>'])
    await observe(store, tenant, stored.uid, await assignmentsOf(stored), waits(about))
  await expect
    .poll(unresolvedEvents)
    .toEqual([{ revision: 1, secret: null, vault_path: null, cause: 'unknown' }])
})

test('a rollout without its secrets leaves running containers alone and fails at its deadline', async () => {
  const { store } = opened
  const first = await put(store, tenant, deploymentOf('web', { replicas: 2, ...SECRETS }))
  agents = startObedientAgents(store, tenant, first.uid, ({ secrets }) =>
    secrets?.[0]?.version === 2 ? waits('DB: store_unavailable') : {},
  )
  const phase = () => placementOf(store, tenant, first.uid)?.reportedPhase
  await expect.poll(phase).toBe('Running')
  await settled()
  clock.advance(DEADLINE_MS)
  await expect.poll(() => placementOf(store, tenant, first.uid)?.lastGood?.revision).toBe(1)
  const before = runningOf(store, tenant, first.uid)
  agents.fewestServed()
  const second = await put(store, tenant, { ...first, revision: 2, pins: { db: 2 } })
  await expect.poll(phase).toBe('Degraded')
  expect(statusOf(second)).toMatchObject({
    reason: 'secret_unresolved',
    replicas: { desired: 2, placed: 2, ready: 2 },
    runningRevision: 1,
  })
  await settled()
  clock.advance(DEADLINE_MS)
  await expect.poll(() => placementOf(store, tenant, first.uid)?.rollout?.state).toBe('rolling_back')
  await expect.poll(() => runningOf(store, tenant, first.uid)).toEqual(before)
  expect(agents.fewestServed()).toBe(2)
  const story = await eventsOf(store, tenant)
  expect(story.find(({ reason }) => reason === 'rollout_started')?.message).toContain('Changed: secrets.')
  const failed = story.find(({ type }) => type === 'deployment.rolled_back')
  expect(failed?.message).toContain('did not get its secrets within 60 s')
  expect(failed?.message).toContain('`holdfast rollout restart web`')
  expect(await unresolvedEvents()).toMatchObject([{ revision: 2, secret: 'DB', cause: 'store_unavailable' }])
})

// Tests that a dry run, which makes as many decisions as the rollout, pauses for other work of the API process, and that
// the dry runs of one tenant run one after another.

import { randomUUID } from 'node:crypto'
import { asDeploymentUid, asTokenId, consumerOf, type TenantId } from '@holdfast/contract'
import { afterEach, expect, test, vi } from 'vitest'
import { done } from '../../../operations/caller.ts'
import { createOverlayStore } from '../../../store/overlay-store.ts'
import { aCanary } from '../../../store/records.fixture.ts'
import {
  credentials,
  deployments,
  nodes,
  placements,
  proofKeys,
  type StoredDeployment,
} from '../../../store/records.ts'
import type { Store } from '../../../store/store.ts'
import { globally, inTenant } from '../../../store/transaction.ts'
import { aRollout, NOW, tenant } from './cached-cluster.fixture.ts'
import { createRunDry } from './run-dry.ts'

const storing = (next: StoredDeployment, owner: TenantId) => (store: Store) =>
  store.transact((transaction) => {
    transaction.put(inTenant(owner, deployments, next.spec.name), next)
    return { kind: 'commit' as const, result: done(undefined) }
  })

/** Plans to store the deployment, which the cache has already. */
function planner({ deps, next }: ReturnType<typeof aRollout>) {
  const runDry = createRunDry(deps)
  return async (owner: TenantId = tenant) => {
    const outcome = await runDry(owner, deps.store, storing(next, owner))
    return outcome.ok ? outcome.value.change : undefined
  }
}

afterEach(() => void vi.restoreAllMocks())

test('a long dry run pauses for other work and covers every replica', async () => {
  const plan = planner(aRollout(100, 20))
  let turns = 0
  let isDone = false
  const count = (): void => {
    turns += 1
    if (!isDone) setImmediate(count)
  }
  setImmediate(count)
  const planned = await plan()
  isDone = true
  expect(turns).toBeGreaterThan(2)
  expect(planned?.steps.flatMap(({ replicas }) => replicas.map(({ replica }) => replica))).toHaveLength(100)
  expect(planned?.steps.every(({ kind }) => kind === 'replace')).toBe(true)
  expect(planned?.steps[0]?.replicas[0]?.why).toMatch(/^of 20 nodes that fit/)
})

test('a dry run pauses while it looks for deployments that wait', async () => {
  const { deps, next } = aRollout(1, 1, {
    placement: { constraints: [{ label: 'ssd', operator: 'exists' }] },
  })
  const before = createOverlayStore(deps.store, deps.ids)
  for (const at of Array(20).keys()) {
    const [name, uid] = [`web-${at}`, asDeploymentUid(`dep_${String(at + 1).padStart(26, '0')}`)]
    before.put(inTenant(tenant, deployments, name), { ...next, uid, spec: { ...next.spec, name } })
  }
  let nowMs = 0
  vi.spyOn(performance, 'now').mockImplementation(() => {
    nowMs += 10
    return nowMs
  })
  const pauses = vi.spyOn(globalThis, 'setImmediate')
  const stopped = { ...next, spec: { ...next.spec, replicas: 0 } }
  await createRunDry(deps)(tenant, before, storing(stopped, tenant))
  expect(pauses.mock.calls.length).toBeGreaterThan(20)
})

test('a dry run reports why a replica of a canary has no node', async () => {
  const { deps, next } = aRollout(1, 2)
  const change = { resources: { cpuMillis: 3_950, memoryBytes: 1 } }
  const { digest } = next
  const canary = aCanary(change, { phase: 'progressing', digest, replicas: 3 })
  const outcome = await createRunDry(deps)(tenant, deps.store, storing({ ...next, canary }, tenant))
  if (!outcome.ok) throw new Error('the canary is rejected')
  const { steps, effects } = outcome.value.change
  const text = 'Without a node: replica 2, 3 of the canary. 0 of 2 nodes fit: 2 with insufficient CPU.'
  const started = steps.find(({ kind }) => kind === 'start')
  // The other replica of the deployment leaves less than this canary requests.
  expect(started?.replicas).toMatchObject([
    { replica: 1, canary: true, why: 'the only one of 2 nodes that fits' },
  ])
  expect(steps.filter(({ kind }) => kind === 'wait')).toMatchObject([{ deployment: 'web', text }])
  expect(effects.unplaced).toEqual([{ deployment: 'web', replicas: 2, canary: true, reason: text }])
})

test('an aborted rotation restarts the deployments that it moves back, although it writes none of them', async () => {
  const secrets = [{ name: 'DB', vault_path: 'resources/db', anchor: 'external', rotation: 'restart' }]
  const { deps, next } = aRollout(1, 1, { secrets })
  const runDry = createRunDry(deps)
  const moved = await runDry(tenant, deps.store, storing({ ...next, pins: { db: 2 } }, tenant))
  if (!moved.ok) throw new Error('the update is rejected')
  const askedBy = {
    token: asTokenId('tok_0'),
    role: 'secrets-admin',
    onBehalf: false,
    requestId: '',
  } as const
  const web = consumerOf('deployment', 'web')
  const versions = [1, 2].map((version) => ({ version, keys: ['password'], createdAt: NOW }))
  const aborting = { phase: 'cutover', old: 1, new: 2, since: NOW, startedBy: web, aborting: true } as const
  const aborted = await runDry(tenant, moved.value.after, (store) =>
    store.transact((transaction) => {
      transaction.put(inTenant(tenant, credentials, 'db'), {
        ...{ v: 1, label: 'db', namespace: 'resources', consumers: [web], versions, initial: 1, slot: 0 },
        rotation: { ...aborting, askedBy },
      })
      return { kind: 'commit' as const, result: done(undefined) }
    }),
  )
  const effects = aborted.ok ? aborted.value.change.effects : undefined
  expect(effects?.restarts).toMatchObject([{ deployment: 'web', replica: 1 }])
})

test('a cutover restarts every deployment that uses the secret, in the order of the real one', async () => {
  const secrets = [{ name: 'DB', vault_path: 'resources/db', anchor: 'external', rotation: 'restart' }]
  const { deps, next } = aRollout(1, 2, { secrets })
  let nowMs = Date.parse(NOW)
  const runDry = createRunDry({ ...deps, clock: { now: () => nowMs } })
  const keyed = createOverlayStore(deps.store, deps.ids)
  keyed.put(globally(proofKeys, 'key'), { v: 1, key: 'a2V5' })
  const web = { ...next, pins: { db: 1 } }
  const uid = asDeploymentUid(`dep_${'1'.repeat(26)}`)
  const mail = { ...web, uid, spec: { ...web.spec, name: 'mail' } }
  const after = async (store: Store, change: Parameters<typeof runDry>[2]) => {
    const outcome = await runDry(tenant, store, change)
    if (!outcome.ok) throw new Error('the change is rejected')
    return outcome.value
  }
  let store: Store = keyed
  for (const each of [web, mail]) store = (await after(store, storing(each, tenant))).after
  // Both updates pass their watch windows, so that each has a last good revision that uses version 1.
  nowMs += 3_600_000
  for (const each of [web, mail]) store = (await after(store, storing(each, tenant))).after
  const consumers = ['mail', 'web'].map((name) => consumerOf('deployment', name))
  const versions = [1, 2].map((version) => ({ version, keys: ['password'], createdAt: NOW }))
  const askedBy = {
    token: asTokenId('tok_0'),
    role: 'secrets-admin',
    onBehalf: false,
    requestId: '',
  } as const
  const startedBy = consumerOf('deployment', 'web')
  const { change } = await after(store, (overlay) =>
    overlay.transact((transaction) => {
      transaction.put(inTenant(tenant, credentials, 'db'), {
        ...{ v: 1, label: 'db', namespace: 'resources', consumers, versions, initial: 1, slot: 0 },
        rotation: { phase: 'cutover', old: 1, new: 2, since: NOW, startedBy, askedBy },
      })
      return { kind: 'commit' as const, result: done(undefined) }
    }),
  )
  expect(change.effects.restarts.map(({ deployment }) => deployment)).toEqual(['web', 'mail'])
  expect(change.effects.omitted).toEqual([])
})

test('a forced removal of a node states that its replicas serve before it and not after it', async () => {
  const { deps, next } = aRollout(1, 2, { routes: [{ host: 'web.example', path: '/', port: 80 }] })
  const runDry = createRunDry(deps)
  const updated = await runDry(tenant, deps.store, storing(next, tenant))
  if (!updated.ok) throw new Error('the update is rejected')
  const { after } = updated.value
  const [placed] = after.list(placements, tenant)
  const nodeId = placed?.record.assignments[0]?.nodeId ?? ''
  const removed = await runDry(tenant, after, (store) =>
    store.transact((transaction) => {
      transaction.delete(inTenant(tenant, nodes, nodeId))
      return { kind: 'commit' as const, result: done(undefined) }
    }),
  )
  const effects = removed.ok ? removed.value.change.effects : undefined
  expect(effects?.moves).toMatchObject([{ deployment: 'web', from: nodeId, reason: 'node_lost' }])
  expect(effects?.unrouted).toMatchObject([{ host: 'web.example', reason: 'no_ready_replica' }])
  const reason = 'The node of an old replica is lost before the successor is ready.'
  expect(effects?.lowestReady).toEqual([{ deployment: 'web', ready: 0, desired: 1, reason }])
})

test('a tenant with too many dry runs is rejected, and does not delay other tenants', async () => {
  const plan = planner(aRollout(3, 20))
  // With a frozen clock the load of the machine cannot cause a pause.
  vi.spyOn(performance, 'now').mockReturnValue(0)
  const asked = Array.from({ length: 12 }, () => plan())
  const other = plan(randomUUID() as TenantId)
  const first = await Promise.race([other.then(() => 'other'), Promise.all(asked).then(() => 'asked')])
  expect(first).toBe('other')
  const made = (await Promise.all(asked)).filter((each) => each !== undefined)
  expect(made).toHaveLength(8)
  expect(await plan()).toEqual(made[0])
})

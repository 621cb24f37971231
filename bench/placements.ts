// How many durable placements per second do the controllers make with 10,000 nodes, compared with the same placement
// records written directly to etcd, one transaction each, in the same run? bench/README.md explains how to run and read
// it.

import { randomUUID } from 'node:crypto'
import { parseArgs } from 'node:util'
import { type DeploymentUid, ownerOf, type TenantId } from '@holdfast/contract'
import { startPlacing } from '@holdfast/server/loops/controllers/place-deployments'
import { type Leadership, startLeadership } from '@holdfast/server/loops/leadership/lead-shards'
import type { KeyValueEngine } from '@holdfast/server/ports/key-value'
import { encodeRecord } from '@holdfast/server/store/encode'
import { deployments, events, placements, tenants } from '@holdfast/server/store/records'
import { openStore, type Store } from '@holdfast/server/store/store'
import { globally, inTenant, placementAt, type Transaction } from '@holdfast/server/store/transaction'
import { realClock as clock, realIds as ids } from '@holdfast/server/system-clock'
import { startEtcd, waitUntil } from '@holdfast/testkit'
import { aNode, deploymentOf, stageNode, write } from '@holdfast/testkit/controllers/placing-world'
import { closedLoop } from './lib/closed-loop.ts'
import { busyMicros, cpuMicros } from './lib/cpu.ts'
import { connectEtcdForBench } from './lib/etcd.ts'

const { values } = parseArgs({
  options: {
    nodes: { type: 'string', default: '10000' },
    tenants: { type: 'string', default: '200' },
    deployments: { type: 'string', default: '4000' },
    seconds: { type: 'string', default: '2' },
    check: { type: 'boolean', default: false },
  },
})
const NODES = Number(values.nodes)
const TENANTS = Number(values.tenants)
const DEPLOYMENTS = Number(values.deployments)
const SECONDS = Number(values.seconds)
/** Numbers of replicas per deployment to measure. The cost of a placement depends on how many replicas share a record. */
const REPLICAS = [1, 10]
const AT_ONCE = 25
const ROOT = '/hf'
const BARE_ROOT = '/hb'

/** Writes many records in transactions of fixed size, several at a time. */
async function writeAll<T>(
  store: Store,
  items: readonly T[],
  stage: (transaction: Transaction, item: T) => void,
): Promise<void> {
  const slices = Array.from({ length: Math.ceil(items.length / AT_ONCE) }, (_, index) =>
    items.slice(index * AT_ONCE, (index + 1) * AT_ONCE),
  )
  const workers = Array.from({ length: 8 }, async () => {
    for (let slice = slices.pop(); slice !== undefined; slice = slices.pop()) {
      const batch = slice
      await write(store, (transaction) => {
        for (const item of batch) stage(transaction, item)
      })
    }
  })
  await Promise.all(workers)
}

async function makeCell(store: Store): Promise<TenantId[]> {
  const made = Array.from({ length: TENANTS }, () => randomUUID() as TenantId)
  await writeAll(store, made, (transaction, id) =>
    transaction.put(globally(tenants, id), {
      v: 1,
      id,
      name: id,
      platform: false,
      quotas: {},
      revision: 1,
      createdAt: '',
      deleting: false,
    }),
  )
  const nodes = Array.from({ length: NODES }, (_, index) => index)
  await writeAll(store, nodes, (transaction, index) =>
    stageNode(transaction, made[index % TENANTS] ?? ('' as TenantId), aNode(`node-${index}`)),
  )
  return made
}

interface Round {
  readonly perSecond: number
  readonly recordsPerSecond: number
  readonly microsPerPlacement: { readonly server: number; readonly etcd: number }
  readonly otherCores: number
}

/** Number of the current measurement. Deployment names contain this number, so that measurements share no deployments. */
let round = 0

/** Measures the time from the moment the controllers see the deployments until the last placement is in the cache. */
async function place(
  { store, leadership, etcdPids }: Bench,
  cell: readonly TenantId[],
  replicas: number,
): Promise<Round> {
  round += 1
  const resources = { cpuMillis: 1, memoryBytes: 1 }
  const desired = Array.from({ length: DEPLOYMENTS }, (_, index) => ({
    tenant: cell[index % TENANTS] ?? ('' as TenantId),
    stored: deploymentOf(`d${round}-${index}`, { replicas, resources }),
  }))
  await writeAll(store, desired, (transaction, { tenant, stored }) =>
    transaction.put(inTenant(tenant, deployments, stored.spec.name), stored),
  )
  await store.fresh()
  const before = { server: cpuMicros([process.pid]), etcd: cpuMicros(etcdPids), busy: busyMicros() }
  const began = performance.now()
  const placing = startPlacing({
    store,
    clock,
    leadership,
    quotas: { limit: () => 1_000_000 },
    random: Math.random,
    residency: { enforcement: true, regions: {} },
    onError: (error) => console.error(String(error)),
  })
  await waitUntil(() => placing.pending === 0 && placed(store, desired) === desired.length, {
    what: 'every replica is placed',
    timeoutMs: 120_000,
    intervalMs: 5,
  })
  const seconds = (performance.now() - began) / 1000
  const total = DEPLOYMENTS * replicas
  const server = cpuMicros([process.pid]) - before.server
  const etcd = cpuMicros(etcdPids) - before.etcd
  const others = (busyMicros() - before.busy - server - etcd) / seconds / 1_000_000
  await placing.stop()
  return {
    perSecond: total / seconds,
    recordsPerSecond: DEPLOYMENTS / seconds,
    microsPerPlacement: { server: server / total, etcd: etcd / total },
    otherCores: Math.max(0, others),
  }
}

interface DesiredDeployment {
  readonly tenant: TenantId
  readonly stored: { readonly uid: DeploymentUid; readonly spec: { readonly replicas: number } }
}

/** Number of deployments at the start of the list that are already known to be placed, so that each is checked once. */
let counted = 0
function placed(store: Store, desired: readonly DesiredDeployment[]): number {
  for (; counted < desired.length; counted += 1) {
    const each = desired[counted]
    if (each === undefined) break
    const found = store.get(placementAt(each.tenant, ownerOf('deployment', each.stored.uid)))?.record
    if (found?.assignments.length !== each.stored.spec.replicas) break
  }
  const reached = counted
  if (reached === desired.length) counted = 0
  return reached
}

/** Measures the rate of direct writes to etcd: each writes the records of one placement, under keys without a watcher. */
async function bareRate({ store, engine, etcdPids }: Bench, tenant: TenantId): Promise<number> {
  const placement = store.list(placements, tenant).at(-1)
  const event = store.keysOf(events, tenant).at(-1)
  if (placement === undefined || event === undefined) throw new Error('no deployment was placed')
  const [eventRecord] = await store.read(events, [event.key])
  if (eventRecord === undefined) throw new Error('no event')
  const values = [encodeRecord(placements, placement.record), encodeRecord(events, eventRecord)]
  const { perSecond } = await closedLoop(
    async (index) => {
      const keys = [`${BARE_ROOT}/t/${tenant}/place/${index}/`, `${BARE_ROOT}/t/${tenant}/evt/${index}/`]
      const compares = [{ key: keys[0] ?? '', target: 'version', is: 'equal', value: 0 } as const]
      const success = keys.map((key, at) => ({ kind: 'put' as const, key, value: values[at] ?? Buffer.of() }))
      return (await engine.transact({ compares, success, failure: [] })).succeeded
    },
    { callers: 256, seconds: SECONDS, groups: { etcd: etcdPids } },
  )
  return perSecond
}

interface Bench {
  readonly store: Store
  readonly engine: KeyValueEngine
  readonly leadership: Leadership
  readonly etcdPids: readonly number[]
}

const etcd = await startEtcd({ members: 3 })
const engine = connectEtcdForBench(etcd.endpoints)
const store = await openStore({ engine, clock, ids, root: ROOT, onUnreadable: (key) => console.error(key) })
const leadership = startLeadership({
  store,
  clock,
  replica: 'bench',
  url: 'http://bench',
  onError: (error) => console.error(String(error)),
})
try {
  const cell = await makeCell(store)
  await waitUntil(() => cell.every((tenant) => leadership.owns(tenant)), {
    what: 'this process owns every shard',
  })
  console.log(`durable placements per second, ${NODES} nodes of ${TENANTS} tenants, etcd with three members`)
  const bench: Bench = { store, engine, leadership, etcdPids: etcd.members.map(({ pid }) => pid) }
  await place(bench, cell, 1)
  let reached = true
  for (const replicas of REPLICAS) {
    const measured = await place(bench, cell, replicas)
    const bare = await bareRate(bench, cell[0] ?? ('' as TenantId))
    const ratio = measured.perSecond / bare
    const micros = `${measured.microsPerPlacement.server.toFixed(0)} us server, ${measured.microsPerPlacement.etcd.toFixed(0)} us etcd`
    console.log(
      `${replicas} replicas each: ${measured.perSecond.toFixed(0)}/s in ${measured.recordsPerSecond.toFixed(0)} records/s, bare ${bare.toFixed(0)}/s, ratio ${ratio.toFixed(2)}; ${micros}; other cores ${measured.otherCores.toFixed(2)}`,
    )
    if (replicas > 1) reached = ratio >= 5 && measured.perSecond >= 5_000
  }
  console.log(reached ? 'all targets reached' : 'not all targets reached')
  if (values.check && !reached) process.exitCode = 1
} finally {
  await leadership.stop()
  store.close()
  engine.close()
  await etcd.stop()
}

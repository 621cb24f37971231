// Runs random changes on one random cluster, each first dry and then for real, and compares the effects that the dry run
// states with those that the records then show. Between two changes the cluster comes to rest.

import type { Effects, TenantId } from '@holdfast/contract'
import { done } from '@holdfast/server/operations/caller'
import { createKeyspace } from '@holdfast/server/store/keys'
import { deployments, nodes, observations, placements } from '@holdfast/server/store/records'
import { callerIn, deleteTenant, RefusedError } from '../cluster/ask.ts'
import { paceOf, registriesOf, residencyOf } from '../cluster/given-world.ts'
import type { Server } from '../cluster/server.ts'
import { setUp } from '../cluster/set-up.ts'
import { createWorld, liveServers, type World } from '../cluster/world.ts'
import { createMemoryKeyspace } from '../memory/keyspace.ts'
import type { Script } from '../script/script.ts'
import { chance } from '../seeds/choose.ts'
import { randomCluster } from '../seeds/random-cluster.ts'
import { createRandom, type Random } from '../time/random.ts'
import { installVirtualTime, type VirtualTime } from '../time/virtual-time.ts'
import { type ComparedEffects, comparedEffects, observeEffects } from './observed-effects.ts'
import { type Change, type Known, randomChange } from './random-change.ts'

export interface ChangesResult {
  readonly seed: number
  /** How many changes were accepted and compared. */
  readonly compared: number
  /** How many of them had an effect. */
  readonly effective: number
  readonly differences: readonly Difference[]
}

export interface Difference {
  readonly change: string
  readonly stated: ComparedEffects | string
  readonly observed: ComparedEffects | string
}

const STARTED_AT = Date.UTC(2026, 0, 1)
const CHANGES = 25
/** Time without a change of a record after which the cluster is at rest: longer than the resync of the controllers. */
const REST_MS = 65_000
const MOST_MS = 600_000
const RESTING = new Set([deployments, nodes, observations, placements].map(({ folder }) => folder))

export async function runChanges(seed: number): Promise<ChangesResult> {
  const random = createRandom(seed, 'changes')
  const {
    tenants: [tenant],
    ...cluster
  } = randomCluster(random)
  const name = tenant?.name ?? ''
  const own = cluster.nodes.filter((node) => node.tenant === name)
  const script: Script = {
    seed,
    cluster: { ...cluster, servers: ['a'], tenants: [{ name }], nodes: own },
    steps: [{ at: 0, do: 'apply', tenant: name, deployment: 'web' }],
  }
  const pace = paceOf(script)
  const time = installVirtualTime(STARTED_AT, createRandom(seed, 'product'), pace.coarseMs)
  const world = createWorld({
    seed,
    time,
    pace,
    keyspace: createMemoryKeyspace(),
    residency: residencyOf(script),
    registries: registriesOf(script),
    steady: true,
    volumesEnabled: false,
  })
  try {
    await pump(time, setUp(world, script))
    const id = world.tenants.get(name)
    if (id === undefined) throw new Error('the cluster has no tenant')
    return { seed, ...(await changeRepeatedly(world, id, random)) }
  } finally {
    time.uninstall()
  }
}

async function changeRepeatedly(
  world: World,
  tenant: TenantId,
  random: Random,
): Promise<Omit<ChangesResult, 'seed'>> {
  const rest = createRest(world)
  await rest(() => {})
  const differences: Difference[] = []
  let compared = 0
  let effective = 0
  for (let mark = 1; mark <= CHANGES; mark += 1) {
    const isLast = mark === CHANGES && chance(random, 30)
    const change = isLast ? TENANT_DELETED : randomChange(random, knownIn(world, tenant), mark)
    const result = await tryChange(world, tenant, change, rest)
    if (result === 'refused') continue
    compared += 1
    if (result.isEffective) effective += 1
    if (result.difference !== undefined) differences.push(result.difference)
  }
  return { compared, effective, differences }
}

const TENANT_DELETED: Change = { text: 'delete the tenant', ask: deleteTenant }

function knownIn({ mirror }: World, tenant: TenantId): Known {
  const { deployments: stored, nodes: enrolled } = mirror.records()
  return {
    deployments: stored
      .filter((each) => each.tenant === tenant && !each.record.deleting)
      .map(({ record }) => ({ name: record.spec.name, revision: record.revision })),
    nodes: enrolled.filter((each) => each.tenant === tenant).map(({ record }) => record),
  }
}

type Rest = (look: () => void) => Promise<void>

async function tryChange(
  world: World,
  tenant: TenantId,
  change: Change,
  rest: Rest,
): Promise<'refused' | { readonly isEffective: boolean; readonly difference?: Difference }> {
  const { time, founded } = world
  const [server] = liveServers(world)
  if (server === undefined || founded === undefined) throw new Error('no server is alive')
  const caller = callerIn(tenant, founded.token)
  const stated = await pump(
    time,
    time.runAs(server.process, () => runDry(server, tenant, change, caller)),
  )
  const observer = observeEffects(() => world.mirror.records(), tenant)
  const refused = await pump(
    time,
    time.runAs(server.process, () => change.ask(server, caller).then(() => undefined, refusalOf)),
    observer.look,
  )
  if (typeof stated === 'string' || refused !== undefined) {
    if (typeof stated === 'string' && refused !== undefined) return 'refused'
    const observed = refused ?? 'accepted'
    return { isEffective: true, difference: { change: change.text, stated: String(stated), observed } }
  }
  await rest(observer.look)
  const [planned, seen] = [comparedEffects(stated), observer.effects()]
  const isEffective = Object.values(seen).some((list) => list.length > 0)
  if (JSON.stringify(planned) === JSON.stringify(seen)) return { isEffective }
  return { isEffective, difference: { change: change.text, stated: planned, observed: seen } }
}

async function runDry(
  { dryRuns, store }: Server,
  tenant: TenantId,
  change: Change,
  caller: ReturnType<typeof callerIn>,
): Promise<Effects | string> {
  try {
    const outcome = await dryRuns.run(tenant, store, async (overlay) => {
      const operations = dryRuns.operationsOn(overlay)
      await change.ask({ operations, store: overlay }, caller)
      return done(undefined)
    })
    return outcome.ok ? outcome.value.change.effects : outcome.rejections.map(({ code }) => code).join()
  } catch (error) {
    return refusalOf(error)
  }
}

function refusalOf(error: unknown): string {
  if (error instanceof RefusedError) return `refused: ${error.message}`
  throw error
}

/** Lets virtual time pass until a promise is settled. */
async function pump<T>(time: VirtualTime, work: Promise<T>, look = () => {}): Promise<T> {
  let isOver = false
  const over = work.finally(() => {
    isOver = true
  })
  over.catch(() => {})
  await time.runUntil(time.elapsedMs + MOST_MS, () => {
    look()
    return isOver
  })
  return work
}

/** Lets virtual time pass until no record of a deployment or node has changed for a while. */
function createRest({ time, keyspace }: World): Rest {
  const { parse } = createKeyspace()
  let last = time.elapsedMs
  let isTouched = false
  keyspace.onWrite(({ key }) => {
    if (!RESTING.has(parse(key)?.folder ?? '')) return
    last = time.elapsedMs
    isTouched = true
  })
  return async (look) => {
    last = time.elapsedMs
    isTouched = true
    await time.runUntil(time.elapsedMs + MOST_MS, () => {
      if (isTouched) look()
      isTouched = false
      return time.elapsedMs - last >= REST_MS
    })
  }
}

// The world of a dry run: the controller of one tenant on an overlay of the stored records. It notices changes, queues
// and plans as the real one does, and simulated agents make every container ready at once. The real change differs only
// if records change in between, or a container fails. See docs/design/rollouts.md#dry-run-plans

import { isFinalPhase, type Owner, ownerOf, type TenantId } from '@holdfast/contract'
import type { PlacementPlan, PlannedDeployment } from '@holdfast/core/placement'
import { type Clock, type IdSource, timestamp } from '../../../ports/clock.ts'
import type { Quotas } from '../../../quotas/quotas.ts'
import type { OverlayStore } from '../../../store/overlay-store.ts'
import {
  type Collection,
  credentials,
  deployments,
  jobs,
  nodeNames,
  nodes,
  observations,
  type StoredDeployment,
  type StoredJob,
  tenants,
} from '../../../store/records.ts'
import type { Store } from '../../../store/store.ts'
import { inTenant, placementAt } from '../../../store/transaction.ts'
import type { Controller, KnownTenant, PlacingDeps } from '../controller.ts'
import { decideNow, reconcileJob } from '../jobs/reconcile-job.ts'
import { finishLeaving } from '../placement/finish-leaving.ts'
import { planNow } from '../placement/reconcile-deployment.ts'
import { createTenantView } from '../placement/tenant-view.ts'
import { createDelayedQueue } from '../queue/delayed-queue.ts'
import { createDependents } from '../queue/dependents.ts'
import { noticeChange } from '../queue/notice-changes.ts'
import { createObservationDedup } from '../queue/observation-dedup.ts'
import { createWaitingList } from '../queue/waiting-list.ts'
import { readWorkKey, workKey } from '../queue/work-key.ts'
import { type Course, type CourseDeps, createCourse, plannedDeployment, recordTurn } from './course.ts'
import { createSkippingClock, rotateAhead, type SkippingClock } from './rotate-ahead.ts'
import { createSimulatedAgents } from './simulate-agents.ts'

export interface PlanAheadDeps extends Pick<PlacingDeps, 'residency'> {
  readonly clock: Clock
  readonly ids: Pick<IdSource, 'ulid'>
  readonly archiveRevisions: number
  /** The quotas by the tenant records of the given store. */
  quotasOn(store: Store): Pick<Quotas, 'limit'>
}

interface World extends CourseDeps {
  readonly clock: SkippingClock
  readonly archiveRevisions: number
  readonly controller: Controller
  readonly known: KnownTenant
  readonly queued: Set<string>
  /** The deployments that the change concerns, by owner, in the order in which they were first planned. */
  readonly courses: Map<Owner, Course>
  /** Waiting deployments and jobs that the controllers have not planned yet; what they do is no effect of the change. */
  readonly pending: Set<Owner>
  /** The deployments whose placement has changed since the agents acted. */
  readonly changed: Set<Owner>
  decisions: number
}

/** Limit of decisions of one plan, so that no dry run occupies a server for longer than some seconds. */
const MOST_DECISIONS = 5_000

/** Applies `written`, an overlay of `before`, to `store`, another one, and lets the controller run until nothing is left. */
export async function planAhead(
  deps: PlanAheadDeps,
  tenant: TenantId,
  store: OverlayStore,
  written: OverlayStore,
): Promise<readonly PlannedDeployment[]> {
  if (!concernsController(written, tenant)) {
    written.copyTo(store)
    return []
  }
  const world = openWorld(deps, store, tenant)
  const pause = createPauses()
  await findWaiting(world, pause)
  store.subscribe((changes) => {
    for (const change of changes) noticeChange(world.controller, change)
  })
  await carryOut(world, written, pause)
  return [...world.courses.values()].flatMap((course) => plannedDeployment(world, course) ?? [])
}

/** The folders of a tenant whose records cause decisions. */
const PLANNED_FOLDERS: ReadonlySet<string> = new Set([
  deployments.folder,
  jobs.folder,
  nodes.folder,
  credentials.folder,
])

/** Whether a change can cause a decision of the tenant's controller. */
function concernsController(written: OverlayStore, tenant: TenantId): boolean {
  return written.written().some(({ tenant: owner, folder, id }) => {
    if (owner !== undefined) return owner === tenant && PLANNED_FOLDERS.has(folder)
    return folder === nodeNames.folder || (folder === tenants.folder && id === tenant)
  })
}

function openWorld(deps: PlanAheadDeps, store: OverlayStore, tenant: TenantId): World {
  const { residency } = deps
  const clock = createSkippingClock(deps.clock)
  const quotas = deps.quotasOn(store)
  const known: KnownTenant = {
    view: createTenantView(store, quotas, tenant),
    waiting: createWaitingList(),
    dependents: createDependents(),
    observed: createObservationDedup(),
    graceUntil: 0,
  }
  const queued = new Set<string>()
  const leadership: PlacingDeps['leadership'] = {
    owns: (other) => other === tenant,
    fenced: (_tenant, decide) => store.transact(decide),
    subscribe: () => () => {},
  }
  const controller: Controller = {
    deps: { store, clock, leadership, quotas, residency, random: () => 0, onError: () => {} },
    tenants: new Map([[tenant, known]]),
    queue: { add: (key) => void queued.add(key) },
    due: createDelayedQueue(),
  }
  return {
    store,
    tenant,
    clock,
    archiveRevisions: deps.archiveRevisions,
    quotas,
    residency,
    view: known.view,
    nodesBefore: new Map(store.list(nodes, tenant).map(({ record }) => [record.id, record])),
    controller,
    known,
    queued,
    courses: new Map(),
    pending: new Set(),
    changed: new Set(),
    decisions: 0,
  }
}

/** Plans each waiting deployment and job, so that a change which helps requeues it. */
async function findWaiting(world: World, pause: Pause): Promise<void> {
  const { tenant, controller, known, pending } = world
  for (const record of waitingDeployments(world)) {
    await pause()
    const owner = ownerOf('deployment', record.uid)
    if (planNow(controller, known, tenant, record) !== undefined) pending.add(owner)
    known.view.release(owner)
  }
  for (const { id } of waitingJobs(world)) {
    await pause()
    if (decideNow(controller, tenant, id) !== undefined) pending.add(ownerOf('job', id))
  }
}

/** The jobs that have not ended and have no attempt on a node. */
const waitingJobs = ({ store, tenant }: World): StoredJob[] =>
  store
    .list(jobs, tenant)
    .map(({ record }) => record)
    .filter(({ phase, current }) => !isFinalPhase(phase) && current === undefined)

/** The deployments with a replica that lacks a node, or that wait for another deployment; also by their canary. */
function waitingDeployments({ store, tenant }: World): StoredDeployment[] {
  const all = store.list(deployments, tenant).map(({ record }) => record)
  return all.filter(({ uid, canary }) => {
    const placement = store.get(placementAt(tenant, ownerOf('deployment', uid)))?.record
    const isCanaryWaiting = canary?.phase === 'progressing' && canary.reason !== ''
    return placement === undefined || placement.shortfall !== undefined || isCanaryWaiting
  })
}

async function carryOut(world: World, written: OverlayStore, pause: Pause): Promise<void> {
  const { store, tenant, queued, changed } = world
  const names = writtenIds(written, tenant, deployments)
  const before = new Map(names.map((name) => [name, find(world, name)]))
  written.copyTo(store)
  for (const [name, stored] of before) openCourse(world, find(world, name), stored, true)
  const agents = createSimulatedAgents(store, tenant, timestamp(world.clock))
  const labels = writtenIds(written, tenant, credentials)
  // Rotations move their consumers even if the change itself concerns no deployment.
  do {
    // The loop over `queued` also visits keys that are added while it runs.
    for (const key of queued) {
      await pause()
      queued.delete(key)
      const work = readWorkKey(key)
      if (work.kind === 'node') await finishLeaving(world.controller, work)
      else if (work.kind === 'job') {
        await reconcileJob(world.controller, work)
        // The simulated agents remove the containers of ended jobs, so that others may use their capacity.
        changed.add(ownerOf('job', work.id))
      } else decide(world, work.name)
    }
    while (queued.size === 0 && agents.step(changed));
    if (queued.size === 0) {
      changed.clear()
      await rotateAhead(world, labels)
      await resync(world, pause)
    }
  } while (queued.size > 0)
}

/** Plans each waiting deployment and job again whose plan has changed, as the resync of the real controller does. */
async function resync(world: World, pause: Pause): Promise<void> {
  const { tenant, controller, known, queued, courses, pending } = world
  if (queued.size > 0 || world.decisions >= MOST_DECISIONS) return
  for (const record of waitingDeployments(world)) {
    const owner = ownerOf('deployment', record.uid)
    if (pending.has(owner) || courses.get(owner)?.isCut) continue
    await pause()
    const plan = planNow(controller, known, tenant, record)
    known.view.release(owner)
    if (plan !== undefined) queued.add(workKey({ kind: 'deployment', tenant, name: record.spec.name }))
  }
  for (const { id } of waitingJobs(world)) {
    if (pending.has(ownerOf('job', id))) continue
    await pause()
    if (decideNow(controller, tenant, id) !== undefined) queued.add(workKey({ kind: 'job', tenant, id }))
  }
}

const writtenIds = (written: OverlayStore, tenant: TenantId, { folder }: Collection<unknown>): string[] =>
  written
    .written()
    .filter((key) => key.tenant === tenant && key.folder === folder)
    .map(({ id }) => id)

const find = ({ store, tenant }: World, name: string): StoredDeployment | undefined =>
  store.get(inTenant(tenant, deployments, name))?.record

function openCourse(
  world: World,
  current: StoredDeployment | undefined,
  stored: StoredDeployment | undefined,
  isWritten: boolean,
): Course | undefined {
  if (current === undefined) return undefined
  const owner = ownerOf('deployment', current.uid)
  const course = world.courses.get(owner) ?? createCourse(world, current, stored, isWritten)
  world.courses.set(owner, course)
  return course
}

/** Plans one deployment and applies the plan; a plan that changes the placement requeues the deployment. */
function decide(world: World, name: string): void {
  const { store, tenant, controller, known, changed } = world
  const stored = find(world, name)
  if (stored === undefined) return
  const isOver = world.decisions >= MOST_DECISIONS
  const plan = isOver ? undefined : planNow(controller, known, tenant, stored)
  if (plan === undefined && !isOver) return
  const course = openCourse(world, stored, stored, false)
  if (course === undefined) return
  const owner = ownerOf('deployment', stored.uid)
  if (plan === undefined || course.turns.length >= course.most) {
    course.isCut = true
    known.view.release(owner)
    return
  }
  world.decisions += 1
  recordTurn(world, course, { stored, plan }, () => apply(store, tenant, plan))
  changed.add(owner)
}

function apply(
  store: OverlayStore,
  tenant: TenantId,
  { deployment: { uid, spec, canary: before }, next, rollout, canary }: PlacementPlan,
): void {
  store.batch(() => {
    const address = placementAt(tenant, ownerOf('deployment', uid))
    if (next === undefined) store.delete(address)
    else store.put(address, { v: 1, ...next })
    for (const { id } of rollout.dropped) store.delete(inTenant(tenant, observations, id))
    const own = inTenant(tenant, deployments, spec.name)
    const stored = store.get(own)?.record
    if (canary !== undefined && canary !== before && stored?.canary !== undefined)
      store.put(own, { ...stored, canary: { ...stored.canary, ...canary } })
  })
}

/** Maximum time that a dry run computes without a pause for other work: a rollout may need hundreds of decisions. */
const SLICE_MS = 8

type Pause = () => Promise<void>

function createPauses(): Pause {
  let since = performance.now()
  return async () => {
    if (performance.now() - since < SLICE_MS) return
    await new Promise((resolve) => setImmediate(resolve))
    since = performance.now()
  }
}

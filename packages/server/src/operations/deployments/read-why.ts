// Why is a replica nowhere? Now: the filters on the facts of this moment. At an earlier time: what the events of that time
// say. DECISIONS 1, 2 and 7.

import {
  type Candidate,
  candidateShape,
  decode,
  type Event,
  list,
  type TenantId,
  type Why,
} from '@holdfast/contract'
import { timestamp } from '../../ports/clock.ts'
import type { StoredDeployment } from '../../store/records.ts'
import type { Store } from '../../store/store.ts'
import { done, type Outcome } from '../caller.ts'
import { listEvents } from '../read-events.ts'
import { deploymentView } from './deployment-view.ts'
import type { DeploymentDeps } from './deps.ts'
import { findStored } from './find-deployment.ts'
import { planPlacement } from './plan-placement.ts'

export type WhyDeps = Pick<DeploymentDeps, 'store' | 'quotas' | 'clock'>

export async function readWhy(
  deps: WhyDeps,
  tenant: TenantId,
  path: string,
  at: string | undefined,
): Promise<Outcome<Why>> {
  await deps.store.fresh()
  const found = findStored(deps.store, tenant, path)
  if (!found.ok) return found
  return at === undefined
    ? done(whyNow(deps, tenant, found.value))
    : whyThen(deps.store, tenant, found.value, Date.parse(at))
}

function whyNow(deps: WhyDeps, tenant: TenantId, stored: StoredDeployment): Why {
  const { store, clock } = deps
  const { status } = deploymentView(store, tenant, stored)
  const { desired, placed } = status.replicas
  const plan = planPlacement(deps, tenant, stored.spec, Math.max(0, desired - placed))
  // What keeps a replica that has a node from being ready is no matter of placement: the status says it.
  const settled = plan.unplaced === 0
  return {
    decidedAt: timestamp(clock),
    phase: status.phase,
    summary: settled ? status.message : plan.summary,
    candidates: [...plan.candidates],
    cure: [...plan.cure],
  }
}

const PHASES: { readonly [type: string]: string } = {
  'deployment.unschedulable': 'Pending',
  'deployment.stalled': 'Degraded',
  'deployment.scheduled': 'Progressing',
  'deployment.progressing': 'Progressing',
  'deployment.running': 'Running',
  'deployment.degraded': 'Degraded',
  'deployment.displaced': 'Degraded',
  'deployment.rolled_back': 'Degraded',
  'deployment.stopped': 'Stopped',
}
const MOST_EVENTS = 500

async function whyThen(
  store: Store,
  tenant: TenantId,
  { uid }: StoredDeployment,
  at: number,
): Promise<Outcome<Why>> {
  const query = { limit: MOST_EVENTS, after: undefined, type: undefined, subject: uid, severity: undefined }
  const listed = await listEvents(store, tenant, query)
  if (!listed.ok) return listed
  const told = listed.value.items.filter(({ type, time }) => type in PHASES && Date.parse(time) <= at)
  const newest = told.at(-1)
  if (newest === undefined) return done(UNDECIDED)
  const refusal = told.findLast(({ type }) => REFUSALS.has(type))
  // A refusal holds until all replicas are placed, which is when the next event is another one than of a shortfall.
  const holds = refusal !== undefined && (refusal === newest || newest.type === 'deployment.degraded')
  const candidates = holds ? told.filter((event) => isPart(event, refusal)).flatMap(candidatesOf) : []
  return done({
    decidedAt: newest.time,
    phase: PHASES[newest.type] ?? '',
    summary: holds ? refusal.message : newest.message,
    candidates,
    cure: [...new Set(candidates.flatMap(({ refusals }) => refusals.map(({ fix }) => fix).join(' ')))],
  })
}

const REFUSALS = new Set(['deployment.unschedulable', 'deployment.stalled'])
const UNDECIDED: Why = {
  decidedAt: null,
  phase: 'Pending',
  summary: 'Nothing is known to have been decided about this deployment by that time.',
  candidates: [],
  cure: [],
}

/** A large matrix is told in several events (SAFETY 4g): all those of one decision are of one summary and one count. */
function isPart(event: Event, refusal: Event): boolean {
  if (event === refusal) return true
  const [one, other] = [partOf(event.data), partOf(refusal.data)]
  return event.type === refusal.type && one !== undefined && one === other
}

function partOf(data: Event['data']): string | undefined {
  if (typeof data !== 'object' || data === null || !('matrix' in data)) return undefined
  return typeof data.matrix === 'string' ? data.matrix : undefined
}

function candidatesOf({ data }: Event): Candidate[] {
  if (typeof data !== 'object' || data === null || !('candidates' in data)) return []
  return decode(list(candidateShape), data.candidates)
}

// The scaling controller: every 30 s, by default, it decides for each deployment with a scaling policy whose shard this process owns.
// One call to each server replica that holds nodes reads all usage. Only a changed number is written; the values of the
// scale-down delay are in memory, and a new owner begins the delay again. See docs/design/scaling.md

import type { TenantId } from '@holdfast/contract'
import { decideScaling, EMPTY_WINDOW, type ScalingWindow } from '@holdfast/core'
import { containerRoom, scalingSituation } from '../../../operations/scaling/scaling-situation.ts'
import { assignmentsOf, measureReplicas, nodesOf } from '../../../operations/usage/replica-usage.ts'
import type { OwnedNode, ReadUsageOfAll, UsageAnswer } from '../../../ports/usage.ts'
import type { Quotas } from '../../../quotas/quotas.ts'
import { deployments, type StoredDeployment, type StoredScaling, tenants } from '../../../store/records.ts'
import type { Store } from '../../../store/store.ts'
import { LostLeadershipError } from '../../leadership/fence.ts'
import { repeat } from '../../repeat.ts'
import { type ApplyDeps, applyScaling } from './apply-scaling.ts'

export interface ScalingControllerDeps extends ApplyDeps {
  readonly store: Pick<Store, 'get' | 'list'>
  readonly quotas: Pick<Quotas, 'list'>
  readonly readUsageOfAll: ReadUsageOfAll
  /** A monotonic time in milliseconds, which no change of the clock moves. */
  nowMs(): number
  onError(error: unknown, deployment: string): void
}

export interface ScalingRounds {
  /** Number of decisions since the start, by reason. */
  readonly decisions: ReadonlyMap<string, number>
  /** Decides once about every deployment with a policy. */
  run(): Promise<void>
}

export interface ScalingController extends Pick<ScalingRounds, 'decisions'> {
  stop(): Promise<void>
}

/** A deployment with a policy, in a tenant whose shard this process owns. */
interface Scaled {
  readonly tenant: TenantId
  readonly stored: StoredDeployment
  readonly scaling: StoredScaling
}

interface Rounds extends ScalingControllerDeps {
  /** The values of the delay, by deployment, policy and revision of the spec. */
  windows: ReadonlyMap<string, ScalingWindow>
  readonly decisions: Map<string, number>
}

/** `roundMs`: the time between two rounds. */
export function driveScaling(deps: ScalingControllerDeps, roundMs = 30_000): ScalingController {
  const { run, decisions } = createScalingRounds(deps)
  const repeating = repeat(roundMs, run, (error) => deps.onError(error, ''))
  return { decisions, stop: repeating.stop }
}

export function createScalingRounds(deps: ScalingControllerDeps): ScalingRounds {
  const rounds: Rounds = { ...deps, windows: new Map(), decisions: new Map() }
  return { decisions: rounds.decisions, run: () => runRound(rounds) }
}

async function runRound(rounds: Rounds): Promise<void> {
  const scaled = findScaled(rounds)
  const answer = await rounds.readUsageOfAll(askedNodes(rounds, scaled), 0)
  const rooms = new Map<TenantId, number>()
  const windows = new Map<string, ScalingWindow>()
  for (const each of scaled) {
    // A deployment that fails does not block the others, and is decided again in the next round.
    try {
      await scaleOne(rounds, each, answer, rooms, windows)
    } catch (error) {
      // LostLeadershipError is ignored, because the process that owns the shard now decides.
      if (error instanceof LostLeadershipError) continue
      rounds.onError(error, `${each.tenant}/${each.stored.spec.name}`)
    }
  }
  // The windows of deployments that are gone, changed or owned by another process are dropped.
  rounds.windows = windows
}

async function scaleOne(
  rounds: Rounds,
  each: Scaled,
  answer: UsageAnswer,
  rooms: Map<TenantId, number>,
  windows: Map<string, ScalingWindow>,
): Promise<void> {
  const { tenant, stored, scaling } = each
  const room = rooms.get(tenant) ?? containerRoom(rounds.quotas, tenant)
  const step = decide(rounds, each, answer, room)
  const { decision } = step
  windows.set(keyOf(each), step.window)
  rounds.decisions.set(decision.reason, (rounds.decisions.get(decision.reason) ?? 0) + 1)
  // Two deployments of one tenant must not use the same room.
  rooms.set(tenant, room - Math.max(0, decision.desired - scaling.desired))
  if (decision.desired !== scaling.desired) await applyScaling(rounds, tenant, stored, step)
}

function findScaled({ store, leadership }: Rounds): Scaled[] {
  return store
    .list(tenants)
    .filter(({ record }) => leadership.owns(record.id))
    .flatMap(({ record: { id: tenant } }) =>
      store
        .list(deployments, tenant)
        .flatMap(({ record: stored }) =>
          stored.scaling === undefined ? [] : [{ tenant, stored, scaling: stored.scaling }],
        ),
    )
}

const askedNodes = ({ store }: Rounds, scaled: readonly Scaled[]): OwnedNode[] =>
  scaled.flatMap(({ tenant, stored }) =>
    nodesOf(assignmentsOf(store, tenant, stored.uid)).map((node) => ({ ...node, tenant })),
  )

function decide(rounds: Rounds, each: Scaled, answer: UsageAnswer, room: number) {
  const { store, windows, nowMs } = rounds
  const { tenant, stored, scaling } = each
  const usage = measureReplicas(store, tenant, assignmentsOf(store, tenant, stored.uid), answer)
  const facts = scalingSituation({ store, tenant, room }, stored, scaling, usage)
  const step = decideScaling(scaling.policy, facts, windows.get(keyOf(each)) ?? EMPTY_WINDOW, nowMs())
  return { ...step, facts }
}

/** Another policy or another revision, which may request another amount, begins the delay again. */
const keyOf = ({ stored: { uid, revision }, scaling }: Scaled): string =>
  `${uid}/${revision}/${scaling.revision}`

// Lets a container that writes volumes start only under a live lease of each of them, and only if a living fencer would end it
// in time. A volume that needs no promise needs no fencer either (docs/design/fencer.md#starts).

import { setTimeout as delay } from 'node:timers/promises'
import type { VolumeId } from '@holdfast/contract'
import { VOLUME_NOT_LEASED } from '@holdfast/core/node'
import type { FencerReport } from '@holdfast/core/promotion/fencer-groups'
import { type Guard, guardOf } from '@holdfast/core/promotion/plan-deadlines'
import type { PromotionTimings } from '@holdfast/core/promotion/timings'
import { ActionError } from '../converge/action-error.ts'
import type { Leases, StartGate } from '../ports/leases.ts'
import { bootTime, latestBootClockMs } from './boot-clock.ts'
import type { FencerLink } from './fencer-link.ts'
import type { DeadlineKeeper } from './keep-deadlines.ts'

/** A fencer at rest reads new deadlines within 200 ms, and one with a fence within 25 ms. */
const GUARD_MS = 500
const POLL_MS = 20

export interface GateDeps {
  readonly leases: Leases
  /** Resolves once the server has confirmed that this node is the primary of the epoch. Only the first call asks it. */
  confirmEpoch(volume: VolumeId): Promise<void>
  readonly timings: Pick<PromotionTimings, 'fenceMs'>
  /** Undefined: this node has no fencer. */
  readonly fencer:
    | {
        readonly link: Pick<FencerLink, 'report'>
        readonly keeper: Pick<DeadlineKeeper, 'report' | 'onChecked'>
      }
    | undefined
}

/** Whether the lease of the volume has ended, or ends so soon that the fencer acts. */
export function isLeaseOver(
  { leases, timings }: Pick<GateDeps, 'leases' | 'timings'>,
  volume: VolumeId,
): boolean {
  const endMs = leases.endMs(volume)
  return Number.isFinite(endMs) ? latestBootClockMs() >= endMs - timings.fenceMs : endMs < 0
}

type Refusal = { readonly volume: VolumeId; readonly why: Guard | 'no_lease' | 'forgotten' | 'unconfirmed' }

export function createStartGate(deps: GateDeps): StartGate {
  const { leases, fencer } = deps
  return {
    async require(volumes) {
      await requireEpochs(deps, volumes)
      const endMs = performance.now() + GUARD_MS
      for (;;) {
        const refused = findRefusal(deps, volumes, await fencer?.link.report())
        if (refused === undefined) return
        const mayPass = refused.why === 'unknown' || refused.why === 'fenced'
        if (!mayPass || performance.now() > endMs) throw notLeased(refused)
        await delay(POLL_MS)
      }
    },
    onChecked(listener) {
      const mayStart = (volumes: readonly VolumeId[]): boolean =>
        findRefusal(deps, volumes, fencer?.keeper.report()) === undefined
      const checked = (): void => listener(mayStart)
      if (fencer === undefined) leases.onChange(checked)
      else fencer.keeper.onChecked(checked)
    },
    async explainKill(volumes) {
      const report = await fencer?.link.report()
      const fenced = volumes.find(
        (volume) => fencer !== undefined && (isLeaseOver(deps, volume) || isFencedIn(report, volume)),
      )
      return fenced && `this node's lease of the volume ${fenced} ended`
    },
  }
}

async function requireEpochs({ confirmEpoch }: GateDeps, volumes: readonly VolumeId[]): Promise<void> {
  for (const volume of volumes)
    await confirmEpoch(volume).catch(() => {
      throw notLeased({ volume, why: 'unconfirmed' })
    })
}

/** Undefined if a writer of the volumes may start. */
function findRefusal(
  deps: GateDeps,
  volumes: readonly VolumeId[],
  report: FencerReport | undefined,
): Refusal | undefined {
  const { leases } = deps
  const over = volumes.find((volume) => isLeaseOver(deps, volume))
  if (over !== undefined)
    return { volume: over, why: leases.isForgotten?.(over) === true ? 'forgotten' : 'no_lease' }
  const endMs = Math.min(Number.POSITIVE_INFINITY, ...volumes.map((volume) => leases.endMs(volume)))
  const why = guardOf(report, volumes, endMs, bootTime())
  // Without promises only a fence that still stands matters: it would kill the writer.
  const isAllowed = endMs === Number.POSITIVE_INFINITY ? why !== 'fenced' : why === 'guarded'
  const volume = volumes.find((one) => leases.endMs(one) === endMs)
  return isAllowed || volume === undefined ? undefined : { volume, why }
}

const isFencedIn = (report: FencerReport | undefined, volume: VolumeId): boolean =>
  report?.boot === bootTime().boot &&
  report.groups.some(({ name, volumes }) => volumes.includes(volume) && report.fences.has(name))

const WHY: { readonly [why in Refusal['why']]: string } = {
  guarded: '',
  no_lease: 'has no lease: not every node with a promotable copy has confirmed it',
  forgotten:
    'waits for the server: the file of promises on this node was unreadable, so check that the node is connected and its disk is sound',
  fencer_silent: 'needs a fencer, and holdfast-fencer does not run on this node',
  unknown: 'is not watched by the fencer yet',
  fenced: 'is fenced',
  unconfirmed: 'has a new primary, and the server has not confirmed yet that it is this node',
}

function notLeased({ volume, why }: Refusal): ActionError {
  const about = `The volume ${volume} ${WHY[why]}.`
  return new ActionError(VOLUME_NOT_LEASED, new Error(about), { about })
}

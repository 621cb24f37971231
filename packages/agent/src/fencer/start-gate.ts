// Lets a container that writes volumes start only under a live lease of each of them, and only if a living fencer would end it
// in time. A volume that needs no promise needs no fencer either (docs/design/promotion.md#starts).

import { setTimeout as delay } from 'node:timers/promises'
import type { VolumeId } from '@holdfast/contract'
import { VOLUME_NOT_LEASED } from '@holdfast/core/node'
import type { FencerReport } from '@holdfast/core/promotion/fencer-groups'
import { type Guard, guardOf } from '@holdfast/core/promotion/plan-deadlines'
import { ActionError } from '../converge/action-error.ts'
import type { Leases, StartGate } from '../ports/leases.ts'
import { bootTime } from './boot-clock.ts'
import type { FencerLink } from './fencer-link.ts'
import type { DeadlineKeeper } from './keep-deadlines.ts'

/** A fencer at rest reads new deadlines within 200 ms, and one with a fence within 25 ms. */
const GUARD_MS = 500
const POLL_MS = 20

export interface GateDeps {
  readonly leases: Leases
  /** Undefined: this node has no fencer. */
  readonly fencer:
    | {
        readonly link: Pick<FencerLink, 'report'>
        readonly keeper: Pick<DeadlineKeeper, 'report' | 'onChecked'>
      }
    | undefined
}

/** The earliest end of the leases that the volumes need; infinite if they need none. */
const endOf = (leases: Leases, volumes: readonly VolumeId[]): number =>
  Math.min(Number.POSITIVE_INFINITY, ...volumes.map((volume) => leases.endMs(volume)))

/** Whether the lease of the volume has ended, or ends so soon that the fencer acts. */
export const isLeaseOver = (leases: Leases, volume: VolumeId): boolean =>
  bootTime().ms >= leases.endMs(volume) - leases.fenceMs

export function createStartGate({ leases, fencer }: GateDeps): StartGate {
  const refusal = (
    volumes: readonly VolumeId[],
    report: FencerReport | undefined,
  ): { readonly volume: VolumeId; readonly why: Guard | 'no_lease' } | undefined => {
    const over = volumes.find((volume) => isLeaseOver(leases, volume))
    if (over !== undefined) return { volume: over, why: 'no_lease' }
    const leased = volumes.find((volume) => leases.endMs(volume) !== Number.POSITIVE_INFINITY)
    if (leased === undefined) return undefined
    const why = guardOf(report, volumes, endOf(leases, volumes), bootTime())
    return why === 'guarded' ? undefined : { volume: leased, why }
  }
  return {
    async require(volumes) {
      for (const volume of volumes) await leases.confirmEpoch(volume).catch(() => unconfirmed(volume))
      const endMs = performance.now() + GUARD_MS
      for (;;) {
        const refused = refusal(volumes, await fencer?.link.report())
        if (refused === undefined) return
        const mayPass = refused.why === 'unknown' || refused.why === 'fenced'
        if (!mayPass || performance.now() > endMs) throw notLeased(refused.volume, refused.why)
        await delay(POLL_MS)
      }
    },
    onChecked(listener) {
      const mayStart = (volumes: readonly VolumeId[]): boolean =>
        refusal(volumes, fencer?.keeper.report()) === undefined
      const checked = (): void => listener(mayStart)
      if (fencer === undefined) leases.onChange(checked)
      else fencer.keeper.onChecked(checked)
    },
    async explainKill(volumes) {
      const report = await fencer?.link.report()
      const fenced = volumes.find(
        (volume) => fencer !== undefined && (isLeaseOver(leases, volume) || isFencedIn(report, volume)),
      )
      return fenced && `the fencer ended it, because this node's lease of the volume ${fenced} ended`
    },
  }
}

const isFencedIn = (report: FencerReport | undefined, volume: VolumeId): boolean =>
  report?.boot === bootTime().boot &&
  report.groups.some(({ name, volumes }) => volumes.includes(volume) && report.fences.has(name))

type Refusal = Guard | 'no_lease' | 'unconfirmed'

const WHY: { readonly [why in Refusal]: string } = {
  guarded: '',
  no_lease: 'has no lease: not every node with a promotable copy has confirmed it',
  fencer_silent: 'needs a fencer, and holdfast-fencer does not run on this node',
  unknown: 'is not watched by the fencer yet',
  fenced: 'is fenced',
  unconfirmed: 'was promoted, and no server has confirmed yet that this node is its primary',
}

function unconfirmed(volume: VolumeId): never {
  throw notLeased(volume, 'unconfirmed')
}

function notLeased(volume: VolumeId, why: Refusal): ActionError {
  const about = `The volume ${volume} ${WHY[why]}.`
  return new ActionError(VOLUME_NOT_LEASED, new Error(about), { about })
}

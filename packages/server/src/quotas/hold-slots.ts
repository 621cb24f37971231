// The quota slots that a write needs for credentials that get their first version by it: several at once, held like one.

import type { QuotaKind, TenantId } from '@holdfast/contract'
import type { QuotaFact } from '@holdfast/core'
import { sleep } from '../lib/sleep.ts'
import { type HeldSlot, holdSlot, type SlotDeps } from './hold-slot.ts'

const KIND: QuotaKind = 'secrets'
const PAUSE_MS = 20

export type SlotsChoice =
  | { readonly kind: 'free'; readonly slots: readonly number[] }
  | { readonly kind: 'full'; readonly quota: QuotaFact }
  | { readonly kind: 'busy'; readonly until: Promise<void> }

export interface HeldSlots {
  /** So many, after giving back those that were held. */
  choose(count: number): SlotsChoice
  release(): void
}

export function holdCredentialSlots(deps: SlotDeps, tenant: TenantId): HeldSlots {
  const held: HeldSlot[] = []
  const release = (): void => {
    for (const slot of held.splice(0)) slot.release()
  }
  return {
    release,
    choose(count) {
      release()
      const slots: number[] = []
      const quota = credentialQuota(deps, tenant, count)
      // Asked first: the last free ones, once they are held here, would look like somebody else's.
      if (count > 0 && quota.used + count > quota.limit) return { kind: 'full', quota }
      while (slots.length < count) {
        const one = holdSlot(deps, tenant, KIND)
        held.push(one)
        const choice = one.choose()
        if (choice.kind === 'busy') {
          // Two that each hold what the other one waits for would wait for ever.
          release()
          return { kind: 'busy', until: sleep(PAUSE_MS * Math.random()) }
        }
        if (choice.kind === 'full')
          return { kind: 'full', quota: { ...quota, used: Math.max(quota.used, quota.limit - slots.length) } }
        slots.push(choice.slot)
      }
      return { kind: 'free', slots }
    },
  }
}

/** So many credentials more that hold material. */
export function credentialQuota({ slots, quotas }: SlotDeps, tenant: TenantId, requested: number): QuotaFact {
  return { kind: KIND, used: slots.used(tenant, KIND), requested, limit: quotas.limit(tenant, KIND) }
}

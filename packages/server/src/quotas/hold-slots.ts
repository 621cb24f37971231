// Holds the quota slots for all credentials that get their first version in one write.

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
  /** Releases the slots held so far and chooses `count` new ones. */
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
      // The quota is checked first: otherwise a request over the quota would wait for the slots that it holds itself.
      if (count > 0 && quota.used + count > quota.limit) return { kind: 'full', quota }
      while (slots.length < count) {
        const one = holdSlot(deps, tenant, KIND)
        held.push(one)
        const choice = one.choose()
        if (choice.kind === 'busy') {
          // Held slots are released before waiting, because two writes that wait for each other's slots would
          // wait forever.
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

/** The quota of credentials that have secret values: limit, use, and the `requested` further credentials. */
export function credentialQuota({ slots, quotas }: SlotDeps, tenant: TenantId, requested: number): QuotaFact {
  return { kind: KIND, used: slots.used(tenant, KIND), requested, limit: quotas.limit(tenant, KIND) }
}

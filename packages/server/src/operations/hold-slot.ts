// One quota slot at a time for one request: another one after each conflict, none after its end. DESIGN 5.

import type { QuotaKind, TenantId } from '@holdfast/contract'
import type { SlotAllocator, SlotChoice } from '../store/slots.ts'
import type { Quotas } from './quotas.ts'

export interface SlotDeps {
  readonly slots: SlotAllocator
  readonly quotas: Quotas
}

export interface HeldSlot {
  choose(): SlotChoice
  release(): void
}

export function holdSlot({ slots, quotas }: SlotDeps, tenant: TenantId, kind: QuotaKind): HeldSlot {
  let held: number | undefined
  const release = (): void => {
    if (held !== undefined) slots.release(tenant, kind, held)
    held = undefined
  }
  return {
    release,
    choose() {
      release()
      const choice = slots.choose(tenant, kind, quotas.limit(tenant, kind))
      if (choice.kind === 'free') held = choice.slot
      return choice
    },
  }
}

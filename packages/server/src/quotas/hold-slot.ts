// Holds one quota slot for a request. After a conflict another slot is chosen; at the end of the
// request the slot is released.

import type { QuotaKind, TenantId } from '@holdfast/contract'
import { slots as slotRecords } from '../store/records.ts'
import { inTenant, type Transaction } from '../store/transaction.ts'
import type { Quotas } from './quotas.ts'
import { type SlotAllocator, type SlotChoice, slotId } from './slots.ts'

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

/** Claims a quota slot in the transaction that writes its record; of two requests with the same slot, one commits. */
export function claimSlot(
  transaction: Transaction,
  tenant: TenantId,
  kind: QuotaKind,
  slot: number,
  holder: string,
): void {
  const address = inTenant(tenant, slotRecords, slotId(kind, slot))
  transaction.requireAbsent(address)
  transaction.put(address, { v: 1, holder })
}

/** Frees a quota slot in the transaction that deletes the record which holds the slot. */
export function freeSlot(transaction: Transaction, tenant: TenantId, kind: QuotaKind, slot: number): void {
  transaction.delete(inTenant(tenant, slotRecords, slotId(kind, slot)))
}

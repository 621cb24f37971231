// Record quotas without a counter: a quota of N records is N slot keys, and each record holds one (DESIGN 5). Which slots
// are free is known from the cache; that none is taken twice is the compare "no such key" in the transaction.

import type { QuotaKind, TenantId } from '@holdfast/contract'
import { slots } from '../store/records.ts'
import type { Store } from '../store/store.ts'

export type SlotChoice =
  | { readonly kind: 'free'; readonly slot: number }
  | { readonly kind: 'full' }
  /** All free ones are asked for at this moment: wait until one of them is decided. */
  | { readonly kind: 'busy'; readonly until: Promise<void> }

export interface SlotAllocator {
  /** A free slot, kept from other callers of this process until `release`. */
  choose(tenant: TenantId, kind: QuotaKind, limit: number): SlotChoice
  release(tenant: TenantId, kind: QuotaKind, slot: number): void
  used(tenant: TenantId, kind: QuotaKind): number
}

export const slotId = (kind: QuotaKind, slot: number): string => `${kind}/${slot}`

interface Pool {
  readonly used: Set<number>
  readonly asked: Set<number>
  readonly waiting: (() => void)[]
  hint: number
  /** What `openSlots` said for this limit; undefined when it must be asked again. */
  open: { readonly limit: number; readonly slots: number } | undefined
}

export function createSlotAllocator(
  store: Pick<Store, 'subscribe' | 'keysOf'>,
  startAt: (limit: number) => number,
): SlotAllocator {
  const pools = new Map<string, Pool>()
  const poolOf = (tenant: TenantId, kind: string): Pool => {
    const name = `${tenant}/${kind}`
    const pool = pools.get(name) ?? {
      used: usedSlots(store, tenant, kind),
      asked: new Set(),
      waiting: [],
      hint: -1,
      open: undefined,
    }
    pools.set(name, pool)
    return pool
  }
  store.subscribe((changes) => {
    for (const { kind, key } of changes) {
      if (key.folder !== slots.folder || key.tenant === undefined) continue
      const [quota = '', slot] = key.id.split('/')
      note(poolOf(key.tenant, quota), kind, Number(slot))
    }
  })
  return {
    choose(tenant, kind, limit) {
      const pool = poolOf(tenant, kind)
      if (pool.hint < 0) pool.hint = startAt(limit)
      return chooseFrom(pool, limit)
    },
    release(tenant, kind, slot) {
      const pool = poolOf(tenant, kind)
      pool.asked.delete(slot)
      for (const wake of pool.waiting.splice(0)) wake()
    },
    used: (tenant, kind) => poolOf(tenant, kind).used.size,
  }
}

function usedSlots(store: Pick<Store, 'keysOf'>, tenant: TenantId, kind: string): Set<number> {
  const own = store.keysOf(slots, tenant).filter(({ id }) => id.startsWith(`${kind}/`))
  return new Set(own.map(({ id }) => Number(id.slice(kind.length + 1))).filter(Number.isSafeInteger))
}

function note(pool: Pool, kind: 'put' | 'delete', slot: number): void {
  if (!Number.isSafeInteger(slot)) return
  if (kind === 'put') pool.used.add(slot)
  else pool.used.delete(slot)
  if (pool.open !== undefined && slot >= pool.open.slots) pool.open = undefined
}

function chooseFrom(pool: Pool, limit: number): SlotChoice {
  if (pool.used.size >= limit) return { kind: 'full' }
  if (pool.open?.limit !== limit) pool.open = { limit, slots: openSlots(pool.used, limit) }
  const open = pool.open.slots
  for (let step = 0; step < open; step += 1) {
    const slot = (pool.hint + step) % open
    if (pool.used.has(slot) || pool.asked.has(slot)) continue
    pool.hint = slot + 1
    pool.asked.add(slot)
    return { kind: 'free', slot }
  }
  if (pool.asked.size === 0) return { kind: 'full' }
  return { kind: 'busy', until: new Promise((resolve) => pool.waiting.push(resolve)) }
}

/**
 * How many of the first slots may be given out, so that they and all that are held beyond them are at most the limit.
 * Less than the limit only where that was lowered under records that hold higher slots.
 */
function openSlots(used: ReadonlySet<number>, limit: number): number {
  let open = limit
  for (;;) {
    let beyond = 0
    for (const slot of used) if (slot >= open) beyond += 1
    if (limit - beyond >= open) return Math.max(0, open)
    open = limit - beyond
  }
}

// Record quotas without a counter: a quota of N records is N slot keys, and each record holds one. The cache shows which
// slots are free; the transaction checks that the chosen key is absent, so no slot is used twice.

import type { QuotaKind, TenantId } from '@holdfast/contract'
import { slots } from '../store/records.ts'
import type { Store } from '../store/store.ts'

export type SlotChoice =
  | { readonly kind: 'free'; readonly slot: number }
  | { readonly kind: 'full' }
  /** Concurrent requests hold all free slots: wait until one of those requests ends. */
  | { readonly kind: 'busy'; readonly until: Promise<void> }

export interface SlotAllocator {
  /** Chooses a free slot and reserves it in this process until `release`. */
  choose(tenant: TenantId, kind: QuotaKind, limit: number): SlotChoice
  release(tenant: TenantId, kind: QuotaKind, slot: number): void
  used(tenant: TenantId, kind: QuotaKind): number
}

export const slotId = (kind: QuotaKind, slot: number): string => `${kind}/${slot}`

interface Pool {
  readonly used: Set<number>
  readonly reserved: Set<number>
  readonly waiting: (() => void)[]
  hint: number
  /** The cached result of `openSlots` for a limit; undefined if it must be computed again. */
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
      reserved: new Set(),
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
      applyChange(poolOf(key.tenant, quota), kind, Number(slot))
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
      pool.reserved.delete(slot)
      for (const wake of pool.waiting.splice(0)) wake()
    },
    used: (tenant, kind) => poolOf(tenant, kind).used.size,
  }
}

function usedSlots(store: Pick<Store, 'keysOf'>, tenant: TenantId, kind: string): Set<number> {
  const own = store.keysOf(slots, tenant).filter(({ id }) => id.startsWith(`${kind}/`))
  return new Set(own.map(({ id }) => Number(id.slice(kind.length + 1))).filter(Number.isSafeInteger))
}

function applyChange(pool: Pool, kind: 'put' | 'delete', slot: number): void {
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
    if (pool.used.has(slot) || pool.reserved.has(slot)) continue
    pool.hint = slot + 1
    pool.reserved.add(slot)
    return { kind: 'free', slot }
  }
  if (pool.reserved.size === 0) return { kind: 'full' }
  return { kind: 'busy', until: new Promise((resolve) => pool.waiting.push(resolve)) }
}

/**
 * Number of slots, from slot 0 on, that new records may use: together with the used slots of higher number they are at
 * most the limit. The number is less than the limit only if the limit was lowered while records hold higher slots.
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

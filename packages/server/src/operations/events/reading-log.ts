// Counts who reads which logs. Reading changes nothing, so it is counted in memory and written as one audit entry for each
// token, subject and hour: soon after the first read, and with the final number after the hour. A request for logs therefore
// needs no write to the store. See docs/design/events.md#audit.

import { type AuditEntry, defined, type TenantId } from '@holdfast/contract'
import { repeat } from '../../loops/repeat.ts'
import { type Clock, type IdSource, timestamp } from '../../ports/clock.ts'
import { readAudit, tenants } from '../../store/records.ts'
import type { Store } from '../../store/store.ts'
import { globally, inTenant } from '../../store/transaction.ts'
import type { Caller } from '../caller.ts'

export interface Reading {
  readonly action: string
  readonly subject: { readonly kind: string; readonly name: string }
}

export interface ReadingLog {
  note(caller: Caller, reading: Reading): void
  /** Writes what is due: entries of first reads, and final numbers of past hours; `all` writes every number. */
  flush(all?: boolean): Promise<void>
  /** Writes the last numbers, unless the store does not answer in time. */
  close(): Promise<void>
}

export interface ReadingLogDeps {
  readonly store: Store
  readonly clock: Clock
  readonly ids: IdSource
  onFailure(error: unknown): void
}

interface Counted {
  readonly hour: number
  readonly first: AuditEntry
  reads: number
  last: string
  /** The number in the stored entry; 0 if none is stored. */
  written: number
}

type TenantCounts = Map<string, Counted>

const HOUR_MS = 3_600_000
const FLUSH_MS = 5_000
const CLOSE_MS = 2_000
/** The most entries of a tenant that one transaction writes. */
const AT_ONCE = 50
/** The most entries of a tenant in memory. Further tokens and subjects share one entry for each action and hour. */
export const MOST_COUNTED = 1_000
const SEVERAL = '(several)'

export function createReadingLog(deps: ReadingLogDeps): ReadingLog {
  const counts = new Map<TenantId, TenantCounts>()
  const flush = async (all = false): Promise<void> => {
    const hour = hourOf(deps.clock)
    for (const [tenant, own] of counts) {
      await writeDue(deps, tenant, own, (each) => all || each.written === 0 || each.hour < hour)
      for (const [key, each] of own) if (each.hour < hour && each.written === each.reads) own.delete(key)
      if (own.size === 0) counts.delete(tenant)
    }
  }
  const flushing = repeat(FLUSH_MS, flush, deps.onFailure)
  return {
    flush,
    note(caller, reading) {
      const own = counts.get(caller.tenant) ?? new Map<string, Counted>()
      counts.set(caller.tenant, own)
      count(deps, own, caller, reading)
    },
    async close() {
      const late = new Promise<void>((resolve) => setTimeout(resolve, CLOSE_MS).unref())
      const last = flushing.stop().then(() => flush(true))
      await Promise.race([last.catch(deps.onFailure), late])
    },
  }
}

const hourOf = (clock: Clock): number => Math.floor(clock.now() / HOUR_MS)

function count({ clock, ids }: ReadingLogDeps, own: TenantCounts, caller: Caller, reading: Reading): void {
  const { action, subject } = reading
  const hour = hourOf(clock)
  const exact = JSON.stringify([caller.token, caller.onBehalf, action, subject.kind, subject.name, hour])
  const hasRoom = own.has(exact) || own.size < MOST_COUNTED
  const key = hasRoom ? exact : JSON.stringify([action, hour])
  const now = timestamp(clock)
  const shown = hasRoom ? subject : { ...subject, name: SEVERAL }
  const counted = own.get(key) ?? {
    ...{ hour, reads: 0, last: now, written: 0 },
    first: firstEntry(ids, now, caller, { action, subject: shown }),
  }
  counted.reads += 1
  counted.last = now
  own.set(key, counted)
}

function firstEntry(ids: IdSource, time: string, caller: Caller, reading: Reading): AuditEntry {
  const { tenant, token, tokenName: name, role, onBehalf, requestId } = caller
  const actor = { token, role, ...defined({ name }) }
  return { id: ids.ulid(), time, tenant, actor, onBehalf, requestId, ...reading }
}

async function writeDue(
  { store }: ReadingLogDeps,
  tenant: TenantId,
  own: TenantCounts,
  isDue: (counted: Counted) => boolean,
): Promise<void> {
  const due = [...own.values()].filter((each) => each.written < each.reads && isDue(each))
  for (let from = 0; from < due.length; from += AT_ONCE) {
    const part = due.slice(from, from + AT_ONCE).map((counted) => ({ counted, reads: counted.reads }))
    await store.transact<void>((transaction) => {
      // The entries of a tenant that is gone are dropped.
      if (transaction.get(globally(tenants, tenant)) === undefined)
        return { kind: 'abort', result: undefined }
      for (const { counted, reads } of part) {
        const { first, last } = counted
        const detail = { reads: String(reads), until: last }
        transaction.put(inTenant(tenant, readAudit, first.id), { v: 1, ...first, detail })
      }
      return { kind: 'commit', result: undefined }
    })
    for (const { counted, reads } of part) counted.written = reads
  }
}

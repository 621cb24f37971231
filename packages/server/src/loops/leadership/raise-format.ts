// Raises the form in which records are written, once every live server replica reads it and unless an operator finalizes
// upgrades (docs/design/store.md#record-forms).
// A server that is wrongly taken for dead sees the new format before any record of that form, and ends itself.

import { FIRST_FORMAT, type Format, formatAddress } from '../../store/format.ts'
import { raisedFormat } from '../../store/next-format.ts'
import { serverReplicas } from '../../store/records.ts'
import { globally, type Transaction } from '../../store/transaction.ts'
import type { LeadershipState } from './leadership-state.ts'

/** A server replica delays a new form until its heartbeat is silent for this part of the time after which it is stale. */
const SILENT_PART = 2 / 3

export async function raiseFormat(state: LeadershipState): Promise<void> {
  const { store } = state
  if (nextFormat(state, store.get(formatAddress)?.record) === undefined) return
  const raised = await store.transact<Format | undefined>((transaction) => {
    const next = nextFormat(state, transaction.get(formatAddress), transaction)
    if (next === undefined) return { kind: 'abort', result: undefined }
    transaction.put(formatAddress, next)
    return { kind: 'commit', result: next }
  })
  if (raised !== undefined) state.onFormatRaised?.(raised)
}

/**
 * The next format; undefined if the format does not change. The commit of the transaction compares the heartbeats that
 * are silent: if the cache of this process is outdated, their senders may be alive.
 */
function nextFormat(
  { store, watch, timings }: LeadershipState,
  format: Format = FIRST_FORMAT,
  transaction?: Transaction,
): Format | undefined {
  const now = performance.now()
  const replicas = store.listWithIds(serverReplicas)
  watch.observe(replicas, now)
  const isLive = (id: string): boolean => watch.silenceMs(id, now) < timings.silentMs * SILENT_PART
  for (const { id } of replicas) if (!isLive(id)) transaction?.get(globally(serverReplicas, id))
  const live = replicas.filter(({ id }) => isLive(id))
  return raisedFormat(format, Math.min(...live.map(({ record }) => record.reads ?? 1)), store)
}

// Raises the form in which records are written, once every live server replica reads it (docs/design/store.md#record-forms).
// A server that is wrongly taken for dead sees the new format before any record of that form, and ends itself.

import { FIRST_FORMAT, type Format, formatAddress, raisedFormat } from '../../store/format.ts'
import { serverReplicas } from '../../store/records.ts'
import type { LeadershipState } from './leadership-state.ts'

/** A server replica delays a new form until its heartbeat is silent for this part of the time after which it is stale. */
const SILENT_PART = 2 / 3

export async function raiseFormat(state: LeadershipState): Promise<void> {
  const { store } = state
  if (nextFormat(state, store.get(formatAddress)?.record) === undefined) return
  const raised = await store.transact<Format | undefined>((transaction) => {
    const next = nextFormat(state, transaction.get(formatAddress))
    if (next === undefined) return { kind: 'abort', result: undefined }
    transaction.put(formatAddress, next)
    return { kind: 'commit', result: next }
  })
  if (raised !== undefined) state.onFormatRaised?.(raised)
}

function nextFormat(state: LeadershipState, format: Format = FIRST_FORMAT): Format | undefined {
  const { store, watch, timings } = state
  const now = performance.now()
  const live = store
    .listWithIds(serverReplicas)
    .filter(({ id }) => watch.silenceMs(id, now) < timings.silentMs * SILENT_PART)
  return raisedFormat(format, Math.min(...live.map(({ record }) => record.reads ?? 1)), store.forms)
}

// Raises the form of stored records for a request that needs it, or for an operator (docs/design/store.md#record-forms).

import { FIRST_FORMAT, formatAddress } from './format.ts'
import { decideForm, type Finalize, type FormChange, type Reader } from './next-format.ts'
import { newestForm, type RecordForm } from './records/collection.ts'
import { serverReplicas } from './records.ts'
import type { Store } from './store.ts'
import { globally, type Transaction } from './transaction.ts'

type FormStore = Pick<Store, 'transact' | 'listWithIds' | 'fresh' | 'forms' | 'finalize'>

/** Raises the format to a form that is raised on demand. Returns `raise` if it was raised. */
export async function demandForm(store: FormStore, v: number): Promise<FormChange> {
  const form = store.forms.find((known) => known.v === v)
  return form === undefined ? { kind: 'written' } : changeForm(store, form, store.finalize)
}

/** Raises the format to the newest form that this program knows. Returns `raise` if it was raised. */
export async function finalizeForms(store: FormStore): Promise<FormChange> {
  const newest = newestForm(store.forms)
  const form = store.forms.find(({ v }) => v === newest)
  return form === undefined ? { kind: 'written' } : changeForm(store, form, 'auto')
}

/** A server that registers at the same time conflicts, because both write the format record. */
async function changeForm(store: FormStore, form: RecordForm, finalize: Finalize): Promise<FormChange> {
  const change = await store.transact<FormChange>((transaction) => {
    const format = transaction.get(formatAddress) ?? FIRST_FORMAT
    const result = decideForm(format, form, { readers: readersIn(store, transaction), finalize })
    if (result.kind !== 'raise') return { kind: 'abort', result }
    transaction.put(formatAddress, result.format)
    return { kind: 'commit', result }
  })
  if (change.kind === 'raise') await store.fresh()
  return change
}

/** The registered servers. Each heartbeat that decides is compared at commit. */
const readersIn = (store: Pick<Store, 'listWithIds'>, transaction: Transaction): Reader[] =>
  store.listWithIds(serverReplicas).map(({ id, record }) => {
    const current = transaction.get(globally(serverReplicas, id)) ?? record
    return { name: `${id} (${current.version ?? '0.1.0'})`, reads: current.reads ?? 1 }
  })

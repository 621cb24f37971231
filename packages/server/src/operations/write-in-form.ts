// Writes records of a form that is raised on demand (docs/design/store.md#record-forms). A rejected request must not raise
// it: the decision first accepts the request, and is repeated after the form was raised.

import type { Rejection } from '@holdfast/contract'
import { reject } from '@holdfast/core'
import { demandForm } from '../store/demand-form.ts'
import { FIRST_FORMAT, formatAddress } from '../store/format.ts'
import type { FormChange } from '../store/next-format.ts'
import type { Store } from '../store/store.ts'
import type { Transaction } from '../store/transaction.ts'
import { type Refused, refused } from './caller.ts'

/** A form that the records of a write have. */
export interface NeededForm {
  readonly v: number
  /** The records in the plural, for the rejection while a server cannot read them. */
  readonly of: string
}

/** Result of a decision that must be repeated after the server has raised the form of the records. */
export const RAISE_FORM = 'raise the form'

/** Whether records of the needed form may be stored. An accepted decision for which it is false returns `RAISE_FORM`. */
export type HasForm = (transaction: Transaction) => boolean

/** `form`: undefined if the records of the write have the form that all servers read. */
export async function writeInForm<R>(
  store: Store,
  form: NeededForm | undefined,
  write: (hasForm: HasForm) => Promise<R | typeof RAISE_FORM>,
): Promise<R | Refused> {
  let isRaised = form === undefined
  const hasForm: HasForm = (transaction) =>
    isRaised || (transaction.get(formatAddress) ?? FIRST_FORMAT).writes >= (form?.v ?? 0)
  for (;;) {
    const result = await write(hasForm)
    if (result !== RAISE_FORM) return result
    const unwritten = form === undefined ? undefined : refuseForm(form.of, await demandForm(store, form.v))
    if (unwritten !== undefined) return refused(unwritten)
    isRaised = true
  }
}

/**
 * The rejection of a write whose records a server of an older version would ignore, or that would end the possibility to
 * go back to one; undefined if the records may be written.
 */
export function refuseForm(of: string, change: FormChange): Rejection | undefined {
  if (change.kind === 'written' || change.kind === 'raise') return undefined
  const cause =
    change.kind === 'behind'
      ? `${of} need servers that can read them; too old: ${change.servers.join(', ')}`
      : `${of} need a finalized upgrade: an operator must run holdfast-server upgrade finalize`
  return reject('store_unavailable', 'store', undefined, { cause })
}

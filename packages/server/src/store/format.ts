// Which forms of stored records this server reads, and which form may be written. The format record in the store says
// which form all servers write. It moves up when every live server replica reads the new form, or
// later, by an operator (next-format.ts, docs/design/store.md#record-forms).

import { type Infer, VERSION } from '@holdfast/contract'
import { newestForm, type RecordForm } from './records/collection.ts'
import { FORMAT_ID, formats } from './records.ts'
import { globally, type Transaction } from './transaction.ts'

export type Format = Infer<typeof formats.shape>

export const formatAddress = globally(formats, FORMAT_ID)

/** The format of a store that has no format record. */
export const FIRST_FORMAT: Format = { v: 1, reads: 1, writes: 1, by: '0.1.0' }

/**
 * Reads and writes the format record in the transaction that registers a server replica, so that the format cannot move
 * up unnoticed at the same time. Returns false if this server cannot read what is written.
 */
export function joinFormat(transaction: Transaction, forms: readonly RecordForm[]): boolean {
  const format = transaction.get(formatAddress) ?? FIRST_FORMAT
  transaction.put(formatAddress, format)
  return format.writes <= newestForm(forms)
}

/** The store contains records that only a newer version reads. The server must end, with exit code 78. */
export class NewerFormatError extends Error {
  override readonly name = 'NewerFormatError'

  constructor({ writes, by }: Pick<Format, 'writes' | 'by'>, reads: number) {
    super(
      `This is holdfast-server ${VERSION}, which reads records up to form ${reads}, but the store is written in form ${writes}. Start version ${by} or later.`,
    )
  }
}

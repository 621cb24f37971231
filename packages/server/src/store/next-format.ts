// Which form of records is written next: a pure decision about the format record, the forms that the live servers read, and
// who may raise the form (docs/design/store.md#record-forms).

import type { Format } from './format.ts'
import type { RecordForm } from './records/collection.ts'

/**
 * The form in which records are written is raised by the servers as soon as all of them read it, or by an operator, who can go
 * back to the older version until then.
 */
export const FINALIZE = ['auto', 'manual'] as const
export type Finalize = (typeof FINALIZE)[number]

/** The highest form that a server replica reads, with a name of the replica for an operator. */
export interface Reader {
  readonly name: string
  readonly reads: number
}

/** The decision about a form that a request needs, or that an operator has asked for. */
export type FormChange =
  | { readonly kind: 'written' }
  /** `servers`: those that cannot read the form. */
  | { readonly kind: 'behind'; readonly servers: readonly string[] }
  | { readonly kind: 'not finalized' }
  | { readonly kind: 'raise'; readonly format: Format }

/** The format that the servers write of their own accord; undefined if it does not change. */
export function raisedFormat(
  format: Format,
  common: number,
  { forms, finalize }: { readonly forms: readonly RecordForm[]; readonly finalize: Finalize },
): Format | undefined {
  const form = forms.find(({ v, onDemand }) => v === common && onDemand !== true)
  if (finalize === 'manual' || form === undefined || common <= format.writes) return undefined
  return formatWith(format, form)
}

/** Whether a form may be written, or be raised so that it may be. */
export function decideForm(
  format: Format,
  form: RecordForm,
  { readers, finalize }: { readonly readers: readonly Reader[]; readonly finalize: Finalize },
): FormChange {
  if (format.writes >= form.v) return { kind: 'written' }
  const behind = readers.filter(({ reads }) => reads < form.v)
  if (behind.length > 0) return { kind: 'behind', servers: behind.map(({ name }) => name) }
  if (finalize === 'manual') return { kind: 'not finalized' }
  return { kind: 'raise', format: formatWith(format, form) }
}

const formatWith = (format: Format, { v, since }: RecordForm): Format => ({
  ...format,
  reads: v,
  writes: v,
  by: since,
})

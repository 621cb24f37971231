// Fields of DECISIONS 4 whose capability is not built. Accept nothing that would be ignored: such a field may only be
// empty, anything else is field_unknown. The capability that brings a field to life removes its line here.

import { isJsonObject, type Json } from '@holdfast/contract'

export interface NotYet {
  /** The object that holds the field, as a rule's `at`; '' for the body. */
  readonly parent: string
  readonly key: string
  readonly isEmpty: (value: Json) => boolean
}

const isEmptyObject = (value: Json): boolean =>
  value === null || (isJsonObject(value) && Object.keys(value).length === 0)

export const NOT_YET: readonly NotYet[] = [{ parent: 'placement', key: 'residency', isEmpty: isEmptyObject }]

/** Fields that have a shape only so that a rule can refuse them with a code of their own: nobody is told to send them. */
export const REFUSED_FIELDS: ReadonlySet<string> = new Set(['secrets[*].mount_path'])

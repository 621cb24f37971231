// Fields of DECISIONS 4 whose capability is not built. Accept nothing that would be ignored: such a field may only be
// empty, anything else is field_unknown. The capability that brings a field to life removes its line here.

import { isJsonObject, type Json } from '@holdfast/contract'

export interface NotYet {
  /** The object that holds the field, as a rule's `at`; '' for the body. */
  readonly parent: string
  readonly key: string
  readonly isEmpty: (value: Json) => boolean
}

const isEmptyList = (value: Json): boolean => value === null || (Array.isArray(value) && value.length === 0)
const isEmptyObject = (value: Json): boolean =>
  value === null || (isJsonObject(value) && Object.keys(value).length === 0)

export const NOT_YET: readonly NotYet[] = [
  { parent: '', key: 'secrets', isEmpty: isEmptyList },
  { parent: '', key: 'composedEnvironment', isEmpty: isEmptyObject },
  { parent: 'placement', key: 'residency', isEmpty: isEmptyObject },
]

// The example of a field as YAML, inside the fields that contain it.

import { type DescribedField, exampleDocument } from '@holdfast/core/admission'
import { stringify } from 'yaml'

export const exampleText = (field: Pick<DescribedField, 'path' | 'example'>): string =>
  stringify(exampleDocument(field), { lineWidth: 0 }).trimEnd()

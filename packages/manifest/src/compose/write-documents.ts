// Writes the documents of an import as one YAML text.

import type { JsonObject } from '@holdfast/contract'
import { stringify } from 'yaml'

export const writeDocuments = (documents: readonly JsonObject[]): string =>
  documents
    .map((document) => stringify(document, { lineWidth: 0, aliasDuplicateObjects: false }))
    .join('---\n')

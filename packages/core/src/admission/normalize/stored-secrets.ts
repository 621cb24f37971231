// Turns the sent entries of `secrets` into the entries to store: references to secrets, with defaults filled in. Secret
// values are removed and returned separately; each removal is reported as an alteration.

import { type Alteration, elementPath, isJsonObject, type Json, type JsonObject } from '@holdfast/contract'
import { describeHidden } from '../../credentials/index.ts'
import type { Limits } from '../../limits.ts'
import type { SentMaterial } from '../../secrets/material.ts'
import { credentialPath } from '../../secrets/vault-path.ts'
import { materialIn } from '../../secrets/written-material.ts'
import { defaultApplied, SECRET_ENTRY_DEFAULTS } from './defaults.ts'

export interface StoredSecrets {
  readonly entries: Json[]
  readonly material: SentMaterial[]
}

const WRITE_TIME = ['values', 'generate']

/** Converts valid sent entries of `secrets`. Entries kept from the current record stay unchanged. */
export function storeSecrets(
  sent: readonly Json[],
  limits: Limits,
  alterations: Alteration[],
): StoredSecrets {
  const material: SentMaterial[] = []
  const entries = sent.map((entry, index) => {
    if (!isJsonObject(entry)) return entry
    const path = elementPath('secrets', index)
    const reference = withDefaults(path, entry, alterations)
    if (WRITE_TIME.some((field) => entry[field] !== undefined)) {
      material.push({ ...credentialPath(String(entry.vault_path)), ...materialIn(entry, limits) })
      alterations.push(...explainStripped(path, entry))
    }
    return reference
  })
  return { entries, material }
}

function withDefaults(path: string, sent: JsonObject, alterations: Alteration[]): JsonObject {
  const { name = null, vault_path = null } = sent
  const entry: JsonObject = { name, vault_path }
  for (const [field, usual] of Object.entries(SECRET_ENTRY_DEFAULTS)) {
    entry[field] = sent[field] ?? usual
    if (sent[field] === undefined) alterations.push(defaultApplied(`${path}.${field}`, usual))
  }
  return entry
}

/** Reports that `values` and `generate` were removed, without their content, because alterations may be stored. */
function explainStripped(path: string, entry: JsonObject): Alteration[] {
  return WRITE_TIME.flatMap((field): Alteration[] => {
    const sent = entry[field]
    if (sent === undefined) return []
    const why = 'Material goes to the secrets store; a deployment holds only references to it.'
    const from = describeHidden(sent)
    return [{ code: 'write_time_material_stripped', field: `${path}.${field}`, from, to: null, why }]
  })
}

// The entries of `secrets` as they are stored: references with their defaults. What came with them is taken out here and
// handed on beside the spec, each part of it announced. SPEC 1, 2.4; DECISIONS 2 (Alteration), 4; SAFETY 4f (1).

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

/** Only for entries that the rules found sound; those of a record pass as they are. */
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

/** Not even the parameters of a generation are repeated: an announcement may be kept, they never are. */
function explainStripped(path: string, entry: JsonObject): Alteration[] {
  return WRITE_TIME.flatMap((field): Alteration[] => {
    const sent = entry[field]
    if (sent === undefined) return []
    const why = 'Material goes to the secrets store; a deployment holds references to it only.'
    const from = describeHidden(sent)
    return [{ code: 'write_time_material_stripped', field: `${path}.${field}`, from, to: null, why }]
  })
}

// Warns about generated secret values: for a secret entry with an external anchor, and for characters that may break the
// template into which the value is inserted.

import { type DeploymentSpec, elementPath, isJsonObject, type Json, type Warning } from '@holdfast/contract'
import { keysOf } from '../../secrets/generate-plan.ts'
import { parseTemplate } from '../../secrets/placeholders.ts'
import { credentialPath } from '../../secrets/vault-path.ts'

/** Parameters of `generate` that can produce characters which must be encoded in a URL. */
const UNSAFE: readonly [field: string, value: string][] = [
  ['charset', 'ascii'],
  ['encoding', 'base64'],
]

/** Warns about `generate` blocks. `sent` are the secret entries of the request; `spec` is what will be stored. */
export function explainGenerated(sent: Json | undefined, spec: DeploymentSpec): Warning[] {
  if (!Array.isArray(sent)) return []
  const composed = placeholdersIn(spec)
  return sent.flatMap((entry, index) => {
    const block = isJsonObject(entry) ? entry.generate : undefined
    const stored = spec.secrets[index]
    if (!isJsonObject(block) || stored === undefined) return []
    const path = `${elementPath('secrets', index)}.generate`
    const { label } = credentialPath(stored.vault_path)
    const isComposed = keysOf(block).some((key) => composed.has(`${label}.${key}`))
    const unsafe = UNSAFE.filter(([field, value]) => isComposed && block[field] === value)
    return [
      ...(stored.anchor === 'external' ? [externalGenerated(path)] : []),
      ...unsafe.map(([field, value]) => unsafeInTemplate(`${path}.${field}`, value)),
    ]
  })
}

/** All placeholders in the templates of a deployment, each as `label.key`. */
function placeholdersIn({ composedEnvironment = {} }: DeploymentSpec): Set<string> {
  const parts = Object.values(composedEnvironment).flatMap((template) => parseTemplate(template) ?? [])
  return new Set(parts.flatMap((part) => (typeof part === 'string' ? [] : [`${part.resource}.${part.key}`])))
}

function externalGenerated(field: string): Warning {
  const why =
    'The anchor is external, which means that another system manages the material, but Holdfast generates it. If no other system uses it, set the anchor to process.'
  return { code: 'external_material_generated', field, why }
}

function unsafeInTemplate(field: string, value: string): Warning {
  const why = `A value generated with ${value} may contain characters such as "/" or "+", which have a special meaning in a URL. A template inserts it unchanged. Use urlsafe, alphanumeric, hex or base64url instead.`
  return { code: 'charset_unsafe_in_template', field, why }
}

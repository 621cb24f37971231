// What is worth a second look when material is to be generated: an anchor that says somebody else makes it, and characters that
// may break the template they are put into. DECISIONS 2 (Warning); SAFETY 2 row 7.

import { type DeploymentSpec, elementPath, isJsonObject, type Json, type Warning } from '@holdfast/contract'
import { keysOf } from '../../secrets/generate-plan.ts'
import { parseTemplate } from '../../secrets/placeholders.ts'
import { credentialPath } from '../../secrets/vault-path.ts'

/** What is written with other characters than letters, digits and those that a URL leaves as they are. */
const UNSAFE: readonly [field: string, value: string][] = [
  ['charset', 'ascii'],
  ['encoding', 'base64'],
]

/** `sent` are the entries as they came, `spec` is what will be stored of them. */
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

/** As `label.key`. */
function placeholdersIn({ composedEnvironment = {} }: DeploymentSpec): Set<string> {
  const parts = Object.values(composedEnvironment).flatMap((template) => parseTemplate(template) ?? [])
  return new Set(parts.flatMap((part) => (typeof part === 'string' ? [] : [`${part.resource}.${part.key}`])))
}

function externalGenerated(field: string): Warning {
  const why =
    'The anchor is external, which says that the material is managed outside, and here Holdfast makes it. If nothing outside knows it, the anchor process says so.'
  return { code: 'external_material_generated', field, why }
}

function unsafeInTemplate(field: string, value: string): Warning {
  const why = `A value made with ${value} may hold characters such as "/" or "+", and a template puts it into a text as it is: in a URL it may be read as something else. urlsafe, alphanumeric, hex and base64url hold none of them.`
  return { code: 'charset_unsafe_in_template', field, why }
}

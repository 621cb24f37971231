// Prints the alterations and warnings that the platform returned for a write (docs/design/admission.md#alterations).
// Defaults are counted; `--verbose` lists them.

import { type Alteration, isJsonObject, type Json, type Warning } from '@holdfast/contract'
import { report, type Terminal } from '../terminal/terminal.ts'
import { memory } from './amounts.ts'
import { errArea } from './area.ts'
import { type Color, paint } from './color.ts'
import { count } from './count.ts'
import { plain } from './plain.ts'
import { hang } from './table.ts'

export interface Announced {
  readonly alterations: readonly Alteration[]
  readonly warnings: readonly Warning[]
}

/** The secrets of the deployment, by which an alteration of `secrets[0]` names the secret. */
export type NamedSecrets = readonly { readonly name: string; readonly vault_path: string }[]

/** The secrets that a manifest mentions, if it mentions them in the accepted form. */
export function namedSecrets(manifest: Json): NamedSecrets {
  const sent = isJsonObject(manifest) && Array.isArray(manifest.secrets) ? manifest.secrets : []
  return sent.map((entry) => {
    const { name = '', vault_path = '' } = isJsonObject(entry) ? entry : {}
    return { name: String(name), vault_path: String(vault_path) }
  })
}

export function printAnnounced(
  terminal: Terminal,
  { alterations, warnings }: Announced,
  { verbose, secrets = [] }: { readonly verbose: boolean; readonly secrets?: NamedSecrets },
): void {
  const { defaults = [], others = [] } = Object.groupBy(alterations, ({ code }) =>
    code === 'default_applied' ? 'defaults' : 'others',
  )
  if (verbose)
    for (const { field, to } of defaults)
      printLabeled(terminal, 'default', 'gray', `${plain(field)} ${valueText(to)}`)
  else if (defaults.length > 0)
    report(terminal, `  ${count(defaults.length, 'default')} applied (--verbose lists them)`)
  for (const each of others) printLabeled(terminal, 'altered', 'blue', alterationText(each, secrets))
  for (const { code, field, why } of warnings)
    printLabeled(terminal, 'warning', 'yellow', `${plain(field)}: ${plain(why)} (${code})`)
}

/** Prints an indented line that begins with a label and wraps below its text. */
export function printLabeled(terminal: Terminal, label: string, color: Color, text: string): void {
  const { columns, colored } = errArea(terminal)
  for (const line of hang(`  ${paint(`${label}:`, color, colored)} `, text, columns)) report(terminal, line)
}

const DIGEST_LENGTH = 'sha256:'.length + 12

function alterationText({ code, field, from, to, why }: Alteration, secrets: NamedSecrets): string {
  if (code === 'image_digest_resolved')
    return `the image was resolved to ${plain(String(to)).slice(0, DIGEST_LENGTH)}`
  if (code === 'secret_version_pinned') {
    const secret = secrets[Number(/^secrets\[(\d+)\]/.exec(field)?.[1])]
    const before = from === null ? '' : ` (before: ${valueText(from)})`
    const subject = secret === undefined ? plain(field) : plain(secret.name)
    const path = secret === undefined ? '' : ` of ${plain(secret.vault_path)}`
    return `${subject} now uses version ${valueText(to)}${path}${before}`
  }
  return `${plain(field)}: ${valueText(from)} -> ${valueText(to)} (${code}: ${plain(why)})`
}

const MAX_LENGTH = 200

/** Formats a value on one line, in YAML flow style. */
export function valueText(value: Json): string {
  const text = plain(isJsonObject(value) ? membersText(value) : flowText(value))
  return text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH)}...` : text
}

function flowText(value: Json): string {
  if (value === null) return 'absent'
  if (Array.isArray(value)) return `[${value.map(flowText).join(', ')}]`
  return isJsonObject(value) ? `{${membersText(value)}}` : String(value)
}

const membersText = (value: { readonly [name: string]: Json }): string =>
  Object.entries(value)
    .map(([name, member]) => `${name}: ${sizeText(name, member) ?? flowText(member)}`)
    .join(', ') || '{}'

/** The storage of nodes is counted in many digits of bytes, so it is shown with a unit. */
const sizeText = (name: string, value: Json): string | undefined =>
  STORAGE.has(name) && typeof value === 'number' ? memory(value) : undefined

const STORAGE = new Set(['freeBytes', 'poolBytes'])

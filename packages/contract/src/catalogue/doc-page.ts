// Renders the Markdown reference page of one error code, for a rejection's `doc` link and for `holdfast explain`.

import { type Code, entryOf } from './catalogue.ts'
import type { CatalogueEntry } from './entry.ts'
import { placeholdersOf } from './fill-in.ts'

/** The reference page of an error code. Catalogue texts that are not Markdown are put into a code block. */
export function renderCodePage(code: Code): string {
  const entry = entryOf(code)
  const blocks = [
    `# \`${code}\``,
    listFacts(entry),
    '## Accepted form',
    fence(entry.expected),
    '## Why',
    fence(entry.why),
    ...explainPlaceholders(entry),
    '## Cause and fix',
    entry.doc,
  ]
  return `${blocks.join('\n\n')}\n`
}

function listFacts({ status, alternativeStatus, field }: CatalogueEntry): string {
  const facts = [`- HTTP status: ${status}`]
  if (alternativeStatus !== undefined) {
    facts.push(`- HTTP status when ${alternativeStatus.when}: ${alternativeStatus.status}`)
  }
  const patterns = field.split(' | ').map((pattern) => `\`${pattern}\``)
  facts.push(`- Field: ${patterns.join(', ')}`)
  return facts.join('\n')
}

/** Puts a catalogue text into a code block. A placeholder such as `{max}` is shown as `<max>`. */
function fence(template: string): string {
  const text = placeholdersOf(template).reduce(
    (shown, name) => shown.replaceAll(`{${name}}`, `<${name}>`),
    template,
  )
  return ['```text', text, '```'].join('\n')
}

function explainPlaceholders({ expected, why }: CatalogueEntry): string[] {
  const names = placeholdersOf(`${expected} ${why}`).map((name) => `\`<${name}>\``)
  return names.length === 0 ? [] : [`The response contains the value of ${names.join(', ')}.`]
}

// The reference page of one code, as Markdown: where the `doc` link of a rejection leads. DECISIONS 1, Explain.

import { type Code, entryOf } from './catalogue.ts'
import type { CatalogueEntry } from './entry.ts'
import { placeholdersOf } from './fill-in.ts'

/** Pure; the same code always gives the same text. Text from the catalogue that is no Markdown stands in a fence. */
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
    '## What leads here, and what to do',
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

/** A placeholder reads as the other variable parts of these texts do. */
function fence(template: string): string {
  const text = placeholdersOf(template).reduce(
    (shown, name) => shown.replaceAll(`{${name}}`, `<${name}>`),
    template,
  )
  return ['```text', text, '```'].join('\n')
}

function explainPlaceholders({ expected, why }: CatalogueEntry): string[] {
  const names = placeholdersOf(`${expected} ${why}`).map((name) => `\`<${name}>\``)
  return names.length === 0 ? [] : [`The answer itself states ${names.join(', ')}.`]
}

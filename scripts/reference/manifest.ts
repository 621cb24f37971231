// docs/reference/manifest.md: every field of a deployment manifest with its meaning, default, range, example and the
// codes that reject it.

import { exampleText } from '@holdfast/cli/reference/example'
import { jsonText } from '@holdfast/contract'
import { type DescribedField, describeManifest, flattenFields } from '@holdfast/core/admission'
import { QUANTITY_FIELDS } from '@holdfast/manifest'
import { code, page } from './page.ts'

export function renderManifest(): string {
  const fields = describeManifest()
  return page('Manifest', [
    'The fields of a deployment, as `holdfast apply` and `POST /api/v1/deployments` accept them. `holdfast explain FIELD` prints the same text for one field. Numbers are the shipped limits; an operator can change them in the [configuration](configuration.md#limits).',
    'An update keeps every top-level field that is not sent; `null` clears one. An unknown field is rejected with `field_unknown`. A duration is a whole number with `ms`, `s`, `m` or `h`, such as `30s`. The order of the checks is described in [docs/design/admission.md](../design/admission.md#order).',
    '## Fields',
    fence('text', tree(fields)),
    ...flattenFields(fields).flatMap((field) => section(field, field.path.includes('.') ? '###' : '##')),
    '## Quantities',
    'A manifest file may have quantities in `resources` and `limits`. The CLI converts them before it sends the manifest, exactly or not at all; the API has the numbers only.',
    [
      '| In a file | Sent as | Accepted | Examples |',
      '|---|---|---|---|',
      ...QUANTITY_FIELDS.map(
        ({ name, sentAs, accepted, examples }) =>
          `| ${code(name)} | ${code(sentAs)} | ${accepted} | ${examples.map(code).join(', ')} |`,
      ),
    ].join('\n'),
  ])
}

/** The fields as an indented list, each with its type. */
function tree(fields: readonly DescribedField[]): string {
  const lines = flattenFields(fields).map(({ path, type, required }) => {
    const steps = path.split('.')
    const name = `${'  '.repeat(steps.length - 1)}${steps.at(-1)}`
    return { name, about: required ? `${type}, required` : type }
  })
  const width = Math.max(...lines.map(({ name }) => name.length))
  return lines.map(({ name, about }) => `${name.padEnd(width)}  ${about}`).join('\n')
}

export function section(field: DescribedField, mark: string): string[] {
  const { path, type, meaning, range, rejections } = field
  return [
    `${mark} ${path}`,
    plain(meaning),
    [
      `- Type: ${type}`,
      `- ${absence(field)}`,
      `- Accepted: ${plain(range)}`,
      `- Rejected with: ${[...new Set(rejections.map((each) => code(each.code)))].join(', ')}`,
    ].join('\n'),
    ...(field.example === null ? [] : [fence('yaml', exampleText(field))]),
  ]
}

function absence({ required, absent, default: value }: DescribedField): string {
  if (required) return 'Required'
  return value === undefined ? `If absent: ${absent}` : `Default: ${code(jsonText(value))}`
}

const fence = (language: string, text: string): string => `\`\`\`${language}\n${text}\n\`\`\``

/** Escapes a text so that Markdown does not read `<label>` as an HTML element. */
const plain = (text: string): string => text.replaceAll('<', '\\<')

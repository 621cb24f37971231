// docs/reference/manifest.md: every field of a deployment manifest with its type, default and the codes that reject it.

import { deploymentBodyShape, type ShapeNode } from '@holdfast/contract'
import { defaultOf } from './manifest-defaults.ts'
import { isRequired, rejectionsAt } from './manifest-rules.ts'
import { code, page, table } from './page.ts'

/** A manifest field. `at` is its path in the notation of the validation rules: `secrets[*].name`, `environment.*`. */
interface Field {
  readonly at: string
  readonly shape: ShapeNode
}

export function renderManifest(): string {
  const sections = Object.entries<ShapeNode>(deploymentBodyShape.fields).map(([name, shape]) =>
    section(name, fieldsIn({ at: name, shape })),
  )
  return page('Manifest', [
    'The fields of a deployment, as `holdfast apply` and `POST /api/v1/deployments` accept them. Numbers are the shipped limits; an operator can change them in the configuration.',
    'A wrong type is rejected with `field_type_invalid`, an unknown field with `field_unknown`. An update keeps every top-level field that is not sent; `null` clears one. `holdfast explain <code>` prints the page of a code. The order of the checks is described in [docs/design/admission.md](../design/admission.md#order).',
    ...sections.flat(),
  ])
}

function section(name: string, fields: readonly Field[]): string[] {
  const listed = fields.filter(
    ({ at, shape }) => shape.kind !== 'object' || meaningOf(shape) !== '' || !at.endsWith('[*]'),
  )
  const rejections = fields.flatMap(({ at }) => rejectionsAt(at).map((each) => ({ at, ...each })))
  return [
    `## ${name}`,
    table(
      ['Field', 'Type', 'Required', 'Default', 'Meaning'],
      listed.map(({ at, shape }) => [
        code(shown(at)),
        typeOf(shape),
        isRequired(at) ? 'yes' : 'no',
        defaultOf(at),
        plain(meaningOf(shape)),
      ]),
    ),
    ...(rejections.length === 0
      ? []
      : [
          table(
            ['Field', 'Rejected with', 'Accepted form', 'Why'],
            rejections.map(({ at, code: name, expected, why }) => [
              code(shown(at)),
              code(name),
              plain(expected),
              plain(why),
            ]),
          ),
        ]),
  ]
}

function fieldsIn({ at, shape }: Field): Field[] {
  return [{ at, shape }, ...innerFields(at, unwrapped(shape)).flatMap(fieldsIn)]
}

function innerFields(at: string, shape: ShapeNode): Field[] {
  if (shape.kind === 'list') return [{ at: `${at}[*]`, shape: shape.element }]
  if (shape.kind === 'map') return [{ at: `${at}.*`, shape: shape.value }]
  if (shape.kind !== 'object') return []
  return Object.entries(shape.fields).map(([name, field]) => ({ at: `${at}.${name}`, shape: field }))
}

function unwrapped(shape: ShapeNode): ShapeNode {
  return shape.kind === 'optional' || shape.kind === 'nullable' ? unwrapped(shape.inner) : shape
}

function meaningOf(shape: ShapeNode): string {
  if (shape.description !== undefined) return shape.description
  return shape.kind === 'optional' || shape.kind === 'nullable' ? meaningOf(shape.inner) : ''
}

function typeOf(shape: ShapeNode): string {
  const bare = unwrapped(shape)
  if (bare.kind === 'string' && bare.values !== undefined) return bare.values.map(code).join(', ')
  if (bare.kind === 'json') return 'any'
  if (bare.kind === 'list') return `list of ${typeOf(bare.element)}`
  if (bare.kind === 'map') return `map of ${typeOf(bare.value)}`
  return bare.kind
}

/** Escapes a text of the error catalogue, so that Markdown does not read `<max>` as an HTML element. */
const plain = (text: string): string => text.replaceAll('<', '\\<')

const shown = (at: string): string => at.replaceAll('[*]', '[<i>]').replaceAll('.*', '.<key>')

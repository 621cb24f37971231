// The offline reference of `holdfast explain`: the meaning of a rejection code, and the type and rules of a manifest field.

import {
  CODES,
  deploymentBodyShape,
  describeShape,
  entryOf,
  isCode,
  renderCodePage,
  type ShapeNode,
  stepsOf,
} from '@holdfast/contract'

/** Explains a rejection code or a manifest field; undefined if the word is neither. */
export function explainWord(word: string): string | undefined {
  return isCode(word) ? renderCodePage(word) : explainField(word)
}

/** All rejection codes and manifest fields, from which the nearest is suggested for an unknown word. */
export const explainableWords = (): string[] => [...CODES, ...fieldPaths(deploymentBodyShape, '')]

function explainField(word: string): string | undefined {
  const path = stepsOf(word.replace(/^deployment\./, ''))
    .filter((step) => typeof step === 'string')
    .join('.')
  const shape = path.split('.').reduce<ShapeNode | undefined>(fieldOf, deploymentBodyShape)
  if (shape === undefined) return undefined
  const codes = CODES.filter((code) => !OTHER_RESOURCES.test(code) && isAbout(entryOf(code).field, path))
  return [
    `# \`${path}\``,
    '',
    `- Type: ${describeShape(shape)}`,
    ...(shape.kind === 'optional' ? ['- Optional'] : []),
    ...(descriptionOf(shape) === '' ? [] : ['', descriptionOf(shape)]),
    ...(codes.length === 0 ? [] : ['', '## Rejection codes', '']),
    ...codes.map((code) => `- \`${code}\`: ${acceptedFor(code)}`),
    '',
  ].join('\n')
}

/** A placeholder with single braces, such as `{max}`, that a rejection fills in. `{{name}}` does not match. */
const PLACEHOLDER = /(?<!\{)\{(\w+)\}(?!\})/
const PLACEHOLDERS = new RegExp(PLACEHOLDER, 'g')

/** The rule of a rejection code: the expected value if that text has no placeholder, else the reason for the rule. */
function acceptedFor(code: Parameters<typeof entryOf>[0]): string {
  const { expected, why } = entryOf(code)
  return [expected, why].find((text) => !PLACEHOLDER.test(text)) ?? expected.replaceAll(PLACEHOLDERS, '<$1>')
}

function fieldOf(shape: ShapeNode | undefined, name: string): ShapeNode | undefined {
  if (shape === undefined) return undefined
  if (shape.kind === 'optional' || shape.kind === 'nullable') return fieldOf(shape.inner, name)
  if (shape.kind === 'list') return fieldOf(shape.element, name)
  if (shape.kind === 'map') return shape.value
  return shape.kind === 'object' && Object.hasOwn(shape.fields, name) ? shape.fields[name] : undefined
}

function descriptionOf(shape: ShapeNode): string {
  const own = shape.description ?? ''
  return own === '' && (shape.kind === 'optional' || shape.kind === 'nullable')
    ? descriptionOf(shape.inner)
    : own
}

/** Codes about volumes, jobs, networks and the archive; excluded, although manifests have fields of equal names. */
const OTHER_RESOURCES = /^(?:volume_spec|job|network|archive)_/

/**
 * Whether field patterns of the catalogue cover a field: `secrets[<i>].name | name` covers `secrets.name` and `name`;
 * `update.<field>` covers `update` and `update.order`.
 */
const isAbout = (patterns: string, path: string): boolean =>
  patterns.split(' | ').some((pattern) => {
    const named = pattern.replaceAll(/\[["<].*?[">]\]/g, '')
    const parent = named.replaceAll(/\.<\w+>/g, '')
    return parent === path || (named.endsWith('.<field>') && path === `${parent}.${lastOf(path)}`)
  })

const lastOf = (path: string): string => path.slice(path.lastIndexOf('.') + 1)

function fieldPaths(shape: ShapeNode, parent: string): string[] {
  if (shape.kind === 'optional' || shape.kind === 'nullable') return fieldPaths(shape.inner, parent)
  if (shape.kind === 'list') return fieldPaths(shape.element, parent)
  if (shape.kind !== 'object') return []
  return Object.entries(shape.fields).flatMap(([name, field]) => {
    const path = parent === '' ? name : `${parent}.${name}`
    return [path, ...fieldPaths(field, path)]
  })
}

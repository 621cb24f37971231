// The reference in the terminal: what a code means, and what a field takes. From the catalogue and the shapes, offline.

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

/** Undefined where nothing is called so. */
export function explainWord(word: string): string | undefined {
  return isCode(word) ? renderCodePage(word) : explainField(word)
}

/** Everything that can be explained, for the nearest name. */
export const explainableWords = (): string[] => [...CODES, ...fieldPaths(deploymentBodyShape, '')]

function explainField(word: string): string | undefined {
  const path = stepsOf(word.replace(/^deployment\./, ''))
    .filter((step) => typeof step === 'string')
    .join('.')
  const shape = path.split('.').reduce<ShapeNode | undefined>(fieldOf, deploymentBodyShape)
  if (shape === undefined) return undefined
  const codes = CODES.filter((code) => !OF_OTHERS.test(code) && isAbout(entryOf(code).field, path))
  return [
    `# \`${path}\``,
    '',
    `- Takes: ${describeShape(shape)}`,
    ...(shape.kind === 'optional' ? ['- May be left out'] : []),
    ...(descriptionOf(shape) === '' ? [] : ['', descriptionOf(shape)]),
    ...(codes.length === 0 ? [] : ['', '## What it may be refused for', '']),
    ...codes.map((code) => `- \`${code}\`: ${acceptedFor(code)}`),
    '',
  ].join('\n')
}

/** What the case at hand fills in; a placeholder of a template has two braces. */
const GAP = /(?<!\{)\{(\w+)\}(?!\})/
const GAPS = new RegExp(GAP, 'g')

/** Where only the case at hand can say what is accepted, the reason for the rule says more than a gap. */
function acceptedFor(code: Parameters<typeof entryOf>[0]): string {
  const { expected, why } = entryOf(code)
  return [expected, why].find((text) => !GAP.test(text)) ?? expected.replaceAll(GAPS, '<$1>')
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

/** Codes of volumes, jobs, networks and the archive, which have fields called as some of a manifest. */
const OF_OTHERS = /^(?:volume_spec|job|network|archive)_/

/** `secrets[<i>].name | name` is about `secrets.name` and `name`; `update.<field>` about `update` and `update.order`. */
const isAbout = (patterns: string, path: string): boolean =>
  patterns.split(' | ').some((pattern) => {
    const named = pattern.replaceAll(/\[["<].*?[">]\]/g, '')
    const whole = named.replaceAll(/\.<\w+>/g, '')
    return whole === path || (named.endsWith('.<field>') && path === `${whole}.${lastOf(path)}`)
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

// Finds the position of a fault in a manifest file: the key of a field that must not be there, else the value. A missing
// value is located at its key; a missing field is located at the key of its parent, or at the first key of its element.

import { type Code, DEPENDENCY_CONDITIONS, type PathStep, type Rejection, stepsOf } from '@holdfast/contract'
import { isDeploymentName, isLabelKey, shownKey } from '@holdfast/core/admission'
import { type Document, isAlias, isMap, isScalar, isSeq, type Node, type Pair } from 'yaml'
import type { Manifest } from './parse-source.ts'

/** A part of a file's text, as character offsets. */
export interface Span {
  readonly start: number
  readonly end: number
}

/** Codes about the key of a field, whatever its value is. */
const ABOUT_THE_KEY: ReadonlySet<Code> = new Set<Code>([
  'dependency_not_found',
  'environment_key_conflict',
  'environment_key_invalid',
  'field_read_only',
  'field_unknown',
  'label_reserved',
  'permission_denied',
  'residency_declared_twice',
  'residency_label_handwritten',
  'secret_key_invalid',
  'secret_mount_path_unsupported',
])

export type Side = 'key' | 'value'

/** The part of the file that a rejection is about. */
export function locateRejection(
  manifest: Manifest,
  { code, field }: Pick<Rejection, 'code' | 'field'>,
): Span {
  const { tree } = manifest
  const steps = stepsOf(writtenField(manifest, field))
  return locate(tree, steps, sideOf(tree, code, steps))
}

/** The field of a rejection as the file names it: `resources.cpuMillis` may be written as `resources.cpu`. */
export const writtenField = ({ conversions }: Pick<Manifest, 'conversions'>, field: string): string =>
  conversions.find(({ sentAs }) => sentAs === field)?.field ?? field

/** Whether a fault is in the key or in the value. The element of a list has no key, so its value is at fault. */
function sideOf(tree: Document, code: Code, steps: readonly PathStep[]): Side {
  const [top, key] = steps
  if (typeof steps.at(-1) !== 'string') return 'value'
  if (top === 'labels' && code === 'field_type_invalid' && typeof key === 'string')
    return isLabelKey(key) ? 'value' : 'key'
  if (top === 'dependsOn' && code === 'dependency_invalid' && typeof key === 'string')
    return isDeploymentName(key) && !isCondition(tree.getIn(steps)) ? 'value' : 'key'
  // The name of a secret entry is a value, from which the names of variables are made.
  if (top === 'secrets' && code === 'environment_key_conflict') return 'value'
  return ABOUT_THE_KEY.has(code) ? 'key' : 'value'
}

const isCondition = (value: unknown): boolean => DEPENDENCY_CONDITIONS.some((known) => known === value)

type Place = { readonly node: Node | null; readonly key: Node | null }

export function locate(tree: Document, steps: readonly PathStep[], side: Side = 'value'): Span {
  let place: Place = { node: tree.contents, key: null }
  for (const step of steps) {
    const next = stepInto(resolve(tree, place.node), step)
    if (next === undefined) return spanOf(place.key) ?? headOf(resolve(tree, place.node)) ?? startOf(tree)
    place = next
  }
  const [first, second] = side === 'key' ? [place.key, place.node] : [place.node, place.key]
  return spanOf(first) ?? spanOf(second) ?? startOf(tree)
}

function stepInto(node: Node | null, step: PathStep): Place | undefined {
  if (isMap(node)) {
    const isStep = ({ key }: Pair, shown: (name: string) => string): boolean =>
      isScalar(key) && shown(String(key.value)) === String(step)
    // A rejection names a key that may be a credential only in its redacted form.
    const pair =
      node.items.find((each) => isStep(each, String)) ?? node.items.find((each) => isStep(each, shownKey))
    return pair === undefined ? undefined : placeOf(pair)
  }
  const element: unknown = isSeq(node) && typeof step === 'number' ? node.items[step] : undefined
  return isNodeLike(element) ? { node: element, key: null } : undefined
}

const placeOf = ({ key, value }: Pair): Place => ({
  key: isNodeLike(key) ? key : null,
  node: isNodeLike(value) ? value : null,
})

export const isNodeLike = (value: unknown): value is Node =>
  isAlias(value) || isMap(value) || isScalar(value) || isSeq(value)

const resolve = (tree: Document, node: Node | null): Node | null =>
  isAlias(node) ? (node.resolve(tree) ?? null) : node

/** The position of a YAML node; undefined for an empty node, such as the value of `image:` without text. */
function spanOf(node: Node | null): Span | undefined {
  const [start = 0, end = 0] = node?.range ?? []
  return end > start ? { start, end } : undefined
}

/** The position of the first key of a list element or document; without keys, of the whole YAML node. */
function headOf(node: Node | null): Span | undefined {
  const [first] = isMap(node) ? node.items : []
  return spanOf(first === undefined ? null : placeOf(first).key) ?? spanOf(node)
}

function startOf({ contents }: Document): Span {
  const start = contents?.range?.[0] ?? 0
  return headOf(contents) ?? { start, end: start + 1 }
}

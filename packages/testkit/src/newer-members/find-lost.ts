// Compares a record with its successor: each unknown member of an object that both contain must still be there.

import type { ShapeNode } from '@holdfast/contract'
import { canonicalJson, type JsonObject } from '@holdfast/contract'
import type { ReplacedObject } from './record-changes.ts'
import { objectsIn, unknownOf } from './shape-objects.ts'

export interface Comparison {
  /** Number of unknown members that had to be kept. */
  readonly expected: number
  /** The paths of unknown members that were lost or changed. */
  readonly lost: readonly string[]
}

type Replaced = { readonly [path: string]: ReplacedObject }

export function findLost(
  shape: ShapeNode,
  before: JsonObject,
  next: JsonObject,
  replaced: Replaced = {},
): Comparison {
  const others = Object.entries(replaced).filter(([, { isSame }]) => !isSame(before, next))
  const isReplaced = (path: readonly string[]) =>
    others.some(([pattern]) => isInside(path, pattern.split('.')))
  const successors = new Map([...objectsIn(shape, next)].map((each) => [each.path.join('.'), each.value]))
  const lost: string[] = []
  let expected = 0
  for (const object of objectsIn(shape, before)) {
    const path = object.path.join('.')
    const successor = isReplaced(object.path) ? undefined : successors.get(path)
    if (successor === undefined) continue
    for (const [name, value] of unknownOf(object)) {
      expected += 1
      const kept = Object.hasOwn(successor, name) ? successor[name] : undefined
      if (kept === undefined || canonicalJson(kept) !== canonicalJson(value)) lost.push(`${path}.${name}`)
    }
  }
  return { expected, lost }
}

const isInside = (path: readonly string[], pattern: readonly string[]): boolean =>
  pattern.every((name, at) => path[at] === name || (name === '*' && path[at] !== undefined))

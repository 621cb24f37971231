// Adds random members to random objects of a record, at any depth, as a newer version of the server would.

import type { Json, JsonObject, ShapeNode } from '@holdfast/contract'
import { objectsIn, unknownOf } from './shape-objects.ts'

/** A random whole number from 0 to `below`, exclusive. */
export type Below = (below: number) => number

/** Names that are special in JavaScript or elsewhere in Holdfast, and must be kept like any other. */
const ODD_NAMES = ['constructor', 'toString', '__proto__', '', 'a b', 'é', '0', 'values', 'length']
const MOST_ADDED = 3

/** The most unknown members that an object gets, so that records do not grow without bound. */
const MOST_PER_OBJECT = 2

/** Adds up to 3 members to the given record. Returns their number; 0 if all its objects have enough. */
export function addMembers(shape: ShapeNode, record: JsonObject, below: Below): number {
  const objects = [...objectsIn(shape, record)].filter((each) => unknownOf(each).length < MOST_PER_OBJECT)
  const added = objects.length === 0 ? 0 : 1 + below(MOST_ADDED)
  for (let left = added; left > 0; left -= 1) {
    const target = objects[below(objects.length)]
    if (target !== undefined)
      define(target.value, newName({ ...target.fields, ...target.value }, below), randomValue(below, 3))
  }
  return added
}

/** Sets a member, even one called `__proto__`. */
function define(object: JsonObject, name: string, value: Json): void {
  Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true })
}

/** A name that is not among those of `taken`. */
function newName(taken: object, below: Below): string {
  const odd = ODD_NAMES[below(8 * ODD_NAMES.length)]
  return odd === undefined || Object.hasOwn(taken, odd) ? `newer${below(1_000_000_000).toString(36)}` : odd
}

function randomValue(below: Below, depth: number): Json {
  const simple: Json[] = [
    null,
    true,
    false,
    0,
    -1.5,
    below(1_000_000),
    '',
    'text',
    '😀"\\\u0000',
    `t${below(1000)}`,
  ]
  const kind = depth === 0 ? 0 : below(4)
  if (kind === 2) return Array.from({ length: below(3) }, () => randomValue(below, depth - 1))
  if (kind === 3) return Object.fromEntries([[newName({}, below), randomValue(below, depth - 1)]])
  return simple[below(simple.length)] ?? null
}

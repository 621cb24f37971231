// Checks a value against a shape. Records are checked on every read and write of the store, so each shape is compiled
// once into a fast check. Only a value that fails this check is walked to find the paths of its faults.

import { childPath, elementPath } from './field-path.ts'
import { durationMs, type ObjectNode, type Shape, type ShapeNode } from './shape.ts'
import { describeShape } from './shape-schema.ts'

export interface ShapeFault {
  readonly kind: 'type' | 'missing' | 'unknown'
  readonly path: string
  readonly value: unknown
  readonly expected: string
}

/** Every place where a value does not match a shape, in the order of the shape. Empty if the value is valid. */
export function findShapeFaults(shape: ShapeNode, value: unknown, path = ''): ShapeFault[] {
  if (conformance(shape)(value)) return []
  const faults: ShapeFault[] = []
  collectFaults(shape, value, path, faults)
  return faults
}

export function matchesShape(shape: ShapeNode, value: unknown): boolean {
  return conformance(shape)(value)
}

/**
 * Checks an unknown value and returns it with the type of the shape. Throws if the value does not match, because an
 * unreadable stored record is a bug.
 */
export function decode<T>(shape: Shape<T>, value: unknown): T {
  const [fault] = findShapeFaults(shape, value)
  if (fault === undefined) return value as T
  throw new TypeError(`${fault.path || 'value'}: ${fault.kind}, expected ${fault.expected}`)
}

/** Maximum number of faults that are listed, so that a large value cannot cause a huge message. */
const MAX_FAULTS = 100

function collectFaults(shape: ShapeNode, value: unknown, path: string, faults: ShapeFault[]): void {
  if (faults.length >= MAX_FAULTS) return
  if (shape.kind === 'nullable' && value === null) return
  if (shape.kind === 'optional' || shape.kind === 'nullable') collectFaults(shape.inner, value, path, faults)
  else if (isOfType(shape, value)) collectInside(shape, value, path, faults)
  else faults.push({ kind: 'type', path, value, expected: describeShape(shape) })
}

function collectInside(shape: ShapeNode, value: unknown, path: string, faults: ShapeFault[]): void {
  if (shape.kind === 'list' && Array.isArray(value)) {
    value.forEach((element, index) => {
      collectFaults(shape.element, element, elementPath(path, index), faults)
    })
  }
  if (shape.kind === 'map' && isObject(value)) {
    for (const key of Object.keys(value)) collectFaults(shape.value, value[key], childPath(path, key), faults)
  }
  if (shape.kind === 'object' && isObject(value)) collectFields(shape, value, path, faults)
}

function collectFields(
  shape: ObjectNode,
  value: { [key: string]: unknown },
  path: string,
  faults: ShapeFault[],
): void {
  for (const key of Object.keys(value)) {
    if (faults.length >= MAX_FAULTS) return
    if (Object.hasOwn(shape.fields, key)) continue
    const expected = `one of ${Object.keys(shape.fields).join(', ')}`
    faults.push({ kind: 'unknown', path: childPath(path, key), value: value[key], expected })
  }
  for (const [key, field] of Object.entries(shape.fields)) {
    const member = value[key]
    if (member !== undefined) collectFaults(field, member, childPath(path, key), faults)
    else if (field.kind !== 'optional') {
      faults.push({
        kind: 'missing',
        path: childPath(path, key),
        value: undefined,
        expected: describeShape(field),
      })
    }
  }
}

/** Whether a value has the type of the shape. The members of the value are not checked. */
export function isOfType(shape: ShapeNode, value: unknown): boolean {
  switch (shape.kind) {
    case 'string':
      return typeof value === 'string'
    case 'duration':
      return typeof value === 'string' && durationMs(value) !== undefined
    case 'integer':
      return typeof value === 'bigint' || (typeof value === 'number' && Number.isInteger(value))
    case 'boolean':
      return typeof value === 'boolean'
    case 'list':
      return Array.isArray(value)
    case 'map':
    case 'object':
      return isObject(value)
    case 'optional':
      return isOfType(shape.inner, value)
    case 'nullable':
      return value === null || isOfType(shape.inner, value)
    case 'json':
      return true
  }
}

function isObject(value: unknown): value is { [key: string]: unknown } {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

type Conforms = (value: unknown) => boolean
const made = new WeakMap<ShapeNode, Conforms>()

function conformance(shape: ShapeNode): Conforms {
  const known = made.get(shape)
  if (known !== undefined) return known
  const conforms = makeConformance(shape)
  made.set(shape, conforms)
  return conforms
}

function makeConformance(shape: ShapeNode): Conforms {
  switch (shape.kind) {
    case 'optional':
      return conformance(shape.inner)
    case 'nullable': {
      const inner = conformance(shape.inner)
      return (value) => value === null || inner(value)
    }
    case 'list': {
      const element = conformance(shape.element)
      return (value) => Array.isArray(value) && value.every(element)
    }
    case 'map': {
      const member = conformance(shape.value)
      return (value) => isObject(value) && Object.values(value).every(member)
    }
    case 'object':
      return objectConformance(shape)
    default:
      return (value) => isOfType(shape, value)
  }
}

function objectConformance(shape: ObjectNode): Conforms {
  const fields = new Map(Object.entries(shape.fields).map(([key, field]) => [key, conformance(field)]))
  const required = Object.keys(shape.fields).filter((key) => shape.fields[key]?.kind !== 'optional')
  const sound = new WeakSet<object>()
  return (value) => {
    if (!isObject(value)) return false
    if (shape.remembered === true && sound.has(value)) return true
    for (const key in value) {
      const member = value[key]
      const field = fields.get(key)
      if (field === undefined || (member !== undefined && !field(member))) return false
    }
    const whole = required.every((key) => value[key] !== undefined)
    if (whole && shape.remembered === true) sound.add(value)
    return whole
  }
}

// Members of a newer version survive decoding, changing and encoding, at any depth, and never reach a client.

import { beforeAll, expect, test } from 'vitest'
import { integer, list, map, nullable, object, optional, string } from './shape.ts'
import {
  carryUnknown,
  decodeOpen,
  encodeOpen,
  keepUnknown,
  showUnknown,
  unknownLength,
} from './unknown-members.ts'

const partShape = object({ name: string(), size: optional(integer()) })
const shape = object({
  v: integer(),
  part: partShape,
  maybe: nullable(partShape),
  parts: list(partShape),
  named: map(partShape),
})
const part = (name: string, newer: object = {}) => ({ name, ...newer })
const RECORD = { v: 1, part: part('a'), maybe: null, parts: [part('b'), part('c')], named: { d: part('d') } }
const NEWER = {
  v: 1,
  part: part('a', { color: 'red' }),
  maybe: null,
  parts: [part('b', { color: { deep: [1] } }), part('c')],
  named: { d: part('d', { color: null }) },
  extra: ['x'],
}
const decoded = () => decodeOpen(shape, structuredClone(NEWER))

beforeAll(() => void decoded())

test('unknown members do not appear as members, and are written back in place', () => {
  expect(JSON.parse(JSON.stringify(decoded()))).toEqual(RECORD)
  expect(JSON.parse(encodeOpen(decoded()))).toEqual(NEWER)
  expect(showUnknown(decoded())).toEqual(NEWER)
})

test('encoding copies no object without unknown members inside', () => {
  const { part: plain, ...newer } = { ...decoded(), part: part('a') }
  expect(showUnknown(RECORD)).toBe(RECORD)
  expect(showUnknown({ ...newer, part: plain })).toHaveProperty('part', plain)
  const odd = JSON.parse('{"__proto__":{"name":"d","color":1}}')
  expect(encodeOpen(decodeOpen(map(partShape), odd))).toBe('{"__proto__":{"name":"d","color":1}}')
})

test('unknown members survive changes that copy their object', () => {
  const record = decoded()
  const changed = {
    ...record,
    v: 2,
    part: { ...record.part, size: 7 },
    parts: record.parts.toReversed().map((each) => ({ ...each, size: 1 })),
  }
  expect(JSON.parse(encodeOpen(changed))).toEqual({
    ...NEWER,
    v: 2,
    part: part('a', { color: 'red', size: 7 }),
    parts: [part('c', { size: 1 }), part('b', { color: { deep: [1] }, size: 1 })],
  })
})

test('a known member wins over an unknown one of the same name', () => {
  const { part: known } = decodeOpen(object({ part: object({ name: string() }) }), {
    part: { name: 'a', size: 1 },
  })
  expect(encodeOpen({ ...known, size: 2 })).toBe('{"name":"a","size":2}')
})

test('known members are checked strictly, beside unknown ones too', () => {
  expect(() => decodeOpen(shape, structuredClone({ ...NEWER, v: 'one' }))).toThrow('v: type')
  expect(() => decodeOpen(shape, structuredClone({ ...NEWER, part: { color: 'red' } }))).toThrow(
    'part.name: missing',
  )
})

test('a member named __proto__ is kept as a member and changes no prototype', () => {
  const value = decodeOpen(partShape, JSON.parse('{"name":"a","__proto__":{"admin":true}}'))
  expect(Object(value).admin).toBeUndefined()
  expect(encodeOpen({ ...value })).toBe('{"name":"a","__proto__":{"admin":true}}')
})

test('a value built from known members takes over the unknown members of its predecessor, by path and by name', () => {
  const built = { ...RECORD, parts: [part('new'), part('c'), part('b')] }
  expect(JSON.parse(encodeOpen(carryUnknown(decoded(), built)))).toEqual({
    ...NEWER,
    parts: [part('new'), part('c'), part('b', { color: { deep: [1] } })],
  })
  expect(carryUnknown(undefined, built)).toBe(built)
})

test('the length of unknown members is the length of their JSON', () => {
  expect(unknownLength(RECORD)).toBe(0)
  const length = ['{"extra":["x"]}', '{"color":"red"}', '{"color":{"deep":[1]}}', '{"color":null}'].join(
    '',
  ).length
  expect(unknownLength(decoded())).toBe(length)
})

test('a successor keeps the unknown members of the object itself and the identity of the objects inside', () => {
  const before = decoded()
  const next = keepUnknown(before, { ...RECORD, v: 2 })
  expect(JSON.parse(encodeOpen(next))).toEqual({ ...RECORD, v: 2, extra: ['x'] })
  expect(next.part).toBe(RECORD.part)
  expect(keepUnknown(undefined, RECORD)).toBe(RECORD)
})

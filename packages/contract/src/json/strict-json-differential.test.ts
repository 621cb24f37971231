// Compares the strict JSON reader with JSON.parse: equal values for every text that the strict reader accepts.

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Json, jsonText } from './json.ts'
import { parseStrictJson } from './strict-json.ts'

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text)

function readOf(text: string): Json {
  const result = parseStrictJson(bytesOf(text))
  if (!result.ok) throw new Error(`refused: ${JSON.stringify(result.fault)}`)
  return result.value
}

describe('the strict JSON reader, compared with JSON.parse', () => {
  test('reads the output of JSON.stringify as JSON.parse does', () => {
    const value = fc.jsonValue({ maxDepth: 6, stringUnit: 'binary' })
    fc.assert(
      fc.property(value, fc.constantFrom(undefined, 1, '\t'), (sent, indent) => {
        const text = JSON.stringify(sent, undefined, indent)
        fc.pre(text.isWellFormed() && !/\\ud[89a-f]/.test(text))
        expectSameAsNative(readOf(text), JSON.parse(text))
      }),
      { numRuns: 2000 },
    )
  }, 60_000)

  test('finds a repeated key at any depth', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), fc.nat(), (sent, nth) => {
        const text = jsonText(readOf(JSON.stringify([{ a: 1 }, sent])))
        const opened = [...text.matchAll(/\{(?="((?:[^"\\]|\\.)*)":)/g)]
        const chosen = opened[nth % opened.length]
        const at = (chosen?.index ?? 0) + 1
        const repeated = `${text.slice(0, at)}"${chosen?.[1]}":0,${text.slice(at)}`
        fc.pre(!isInsideString(text, at))
        expect(parseStrictJson(bytesOf(repeated))).toMatchObject({ fault: { kind: 'duplicate_key' } })
      }),
      { numRuns: 2000 },
    )
  })

  test('reads its own jsonText output as the same value', () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: 'binary' }), fc.bigInt(), (sent, big) => {
        const text = `[${JSON.stringify(sent)},${big}]`
        fc.pre(!/\\ud[89a-f]/.test(text))
        const read = readOf(text)
        expect(readOf(jsonText(read))).toStrictEqual(read)
      }),
    )
  })

  test('accepts none of 60,000 mutated bodies that JSON.parse rejects or reads differently', () => {
    const seen = { accepted: 0, refusedByBoth: 0, refusedByUs: 0 }
    const random = randomFrom(20_240_817)
    for (let round = 0; round < 60_000; round++) seen[judge(mutate(random))]++
    expect(seen.accepted).toBeGreaterThan(5_000)
    expect(seen.refusedByBoth).toBeGreaterThan(5_000)
    expect(seen.refusedByUs).toBeGreaterThan(100)
  }, 60_000)
})

function isInsideString(text: string, at: number): boolean {
  return (text.slice(0, at).replace(/\\./g, '').split('"').length - 1) % 2 === 1
}

const nativeDecoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function judge(bytes: Uint8Array): 'accepted' | 'refusedByBoth' | 'refusedByUs' {
  const ours = parseStrictJson(bytes)
  let native: unknown
  try {
    native = JSON.parse(nativeDecoder.decode(bytes))
  } catch {
    if (ours.ok) throw new Error(`accepted what JSON.parse refuses: ${Buffer.from(bytes).toString('latin1')}`)
    return 'refusedByBoth'
  }
  if (ours.ok) {
    expectSameAsNative(ours.value, native)
    return 'accepted'
  }
  // JSON.parse accepted the text, so the strict reader may reject it only by a stricter rule, not as a syntax error.
  if (ours.fault.kind === 'syntax')
    throw new Error(`refused sound JSON: ${Buffer.from(bytes).toString('latin1')}`)
  return 'refusedByUs'
}

/** Compares a value of the strict reader with that of JSON.parse. Intended differences are bigint and minus zero. */
function expectSameAsNative(ours: Json, native: unknown): void {
  if (!sameAsNative(ours, native)) throw new Error(`${jsonText(ours)} is not ${JSON.stringify(native)}`)
}

function sameAsNative(ours: Json, native: unknown): boolean {
  if (typeof ours === 'bigint') return Number(ours) === native
  if (Array.isArray(ours)) {
    return (
      Array.isArray(native) &&
      native.length === ours.length &&
      ours.every((element, index) => sameAsNative(element, native[index]))
    )
  }
  if (typeof ours !== 'object' || ours === null) return ours === native
  if (typeof native !== 'object' || native === null || Array.isArray(native)) return false
  const keys = Object.keys(ours)
  const theirs = new Map<string, unknown>(Object.entries(native))
  return (
    keys.join('\n') === Object.keys(native).join('\n') &&
    keys.every((key) => sameAsNative(ours[key] ?? null, theirs.get(key)))
  )
}

type Random = (below: number) => number

/** A small random generator with a fixed seed, so that every run tests the same bodies. */
function randomFrom(seed: number): Random {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

const SEEDS = [
  '{"kind":"Deployment","name":"web","replicas":3,"secrets":[{"name":"DB","values":{"a":"b"}}]}',
  '{"a":[1,-0,1.5e3,1E-2,123456789012345678901],"b":{"a":null,"b":true,"c":false}}',
  '["\\u00e9\\ud83d\\ude00\\n\\"","é\u{1f600}",{"__proto__":{"x":1}},[[[]]],{}]',
  '[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]',
  ' [ 0 , 0.0 , 1e308 , 9007199254740993 , "" ] ',
].map((text) => [...bytesOf(text)])
const PIECES = [
  ...'{}[]:,"\\/-+.eE0159 \n\t\u0000ua'.split(''),
  ...[
    'true',
    'null',
    '\\u',
    '\\ud83d',
    '\\ude00',
    '"a":1',
    '"a":',
    'e9',
    '1e308',
    '00',
    'é',
    '\u{1f600}',
    '\ufeff',
  ],
].map((text) => [...bytesOf(text)])
const RAW = [[0x80], [0xc3], [0xff], [0xed, 0xa0, 0x80]]

function mutate(random: Random): Uint8Array {
  const bytes = [...(SEEDS[random(SEEDS.length)] ?? [])]
  for (let edits = random(4); edits >= 0; edits--) edit(bytes, random)
  return new Uint8Array(bytes)
}

function edit(bytes: number[], random: Random): void {
  const at = random(bytes.length + 1)
  const piece = random(50) === 0 ? RAW[random(RAW.length)] : PIECES[random(PIECES.length)]
  const other = random(bytes.length + 1)
  switch (random(5)) {
    case 0:
      bytes.splice(at, 1 + random(3))
      return
    case 1:
      bytes.splice(at, 1, ...(piece ?? []))
      return
    case 2:
      bytes.splice(at, 0, ...bytes.slice(Math.min(at, other), Math.max(at, other)))
      return
    default:
      bytes.splice(at, 0, ...(piece ?? []))
  }
}

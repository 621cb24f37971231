import { cpuMsOf } from '@holdfast/testkit/cpu-time'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Json } from './json.ts'
import { parseStrictJson, type StrictJsonFault } from './strict-json.ts'
import { utf8Length } from './strict-json-utf8.ts'

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text)
const parse = (text: string) => parseStrictJson(bytesOf(text))

function readOf(text: string): Json {
  const result = parse(text)
  if (!result.ok) throw new Error(`refused: ${JSON.stringify(result.fault)}`)
  return result.value
}

function faultOf(body: string | Uint8Array, maxDepth?: number): StrictJsonFault {
  const bytes = typeof body === 'string' ? bytesOf(body) : body
  const result = parseStrictJson(bytes, maxDepth === undefined ? {} : { maxDepth })
  if (result.ok) throw new Error('accepted')
  return result.fault
}

describe('the strict JSON reader accepts', () => {
  const accepted: [string, Json][] = [
    ['null', null],
    ['true', true],
    [' \t\r\n false \n', false],
    ['0', 0],
    ['-0', 0],
    ['-0.0e-3', 0],
    ['-1e-400', 0],
    ['-12', -12],
    ['1.5', 1.5],
    ['1E3', 1000],
    ['1e+3', 1000],
    ['25e-1', 2.5],
    ['999999999999999', 999999999999999],
    ['9007199254740991', 9007199254740991],
    ['-9007199254740991', -9007199254740991],
    ['9007199254740992', 9007199254740992n],
    ['9007199254740993', 9007199254740993n],
    ['-9007199254740993', -9007199254740993n],
    ['123456789012345678901234567890', 123456789012345678901234567890n],
    ['1.7976931348623157e308', Number.MAX_VALUE],
    ['""', ''],
    ['"a b"', 'a b'],
    ['"\\"\\\\\\/\\b\\f\\n\\r\\t"', '"\\/\b\f\n\r\t'],
    ['"\\u0000\\u001F\\uABcd"', '\u0000\u001f\uabcd'],
    ['"\\ud83d\\ude00"', '\u{1f600}'],
    ['"x\\ud83d\\ude00y\\nz"', 'x\u{1f600}y\nz'],
    ['"é ü \u{1f600} \u007f \u2028"', 'é ü \u{1f600} \u007f \u2028'],
    ['"\\ufeff"', '\ufeff'],
    ['[]', []],
    ['[ ]', []],
    ['[1 , [2,[ ]],"]"]', [1, [2, []], ']']],
    ['{}', {}],
    ['{ }', {}],
    ['{"":{"a":[{}]} , "b" : null}', { '': { a: [{}] }, b: null }],
    ['{"a":1,"A":2,"a ":3}', { a: 1, A: 2, 'a ': 3 }],
  ]
  test.each(accepted)('%s', (text, value) => {
    const read = readOf(text)
    expect(read === 0 ? Object.is(read, 0) : true).toBe(true)
    expect(plain(read)).toStrictEqual(value)
  })
})

/** Converts objects that have no prototype into ordinary objects, for comparison. */
function plain(value: Json): unknown {
  if (Array.isArray(value)) return value.map(plain)
  if (typeof value !== 'object' || value === null) return value
  const copy = {}
  for (const [key, member] of Object.entries(value)) {
    Object.defineProperty(copy, key, {
      value: plain(member),
      enumerable: true,
      writable: true,
      configurable: true,
    })
  }
  return copy
}

describe('the strict JSON reader rejects', () => {
  const syntax = [
    '',
    ' ',
    '\n',
    'nul',
    'nulll',
    'True',
    'NaN',
    'Infinity',
    '-Infinity',
    'undefined',
    "'a'",
    '+1',
    '-',
    '--1',
    '01',
    '-01',
    '00',
    '1.',
    '.5',
    '1.e3',
    '1e',
    '1e+',
    '1e1.5',
    '0x10',
    '1_000',
    '1n',
    '1 2',
    '1,',
    '"a',
    '"a\\"',
    '"\\',
    '"\\a"',
    '"\\u12"',
    '"\\u12g4"',
    '"\\U0041"',
    '"\\x41"',
    '"a\nb"',
    '"a\u0000b"',
    '"\t"',
    '"\u001f"',
    '"a" "b"',
    '[',
    ']',
    '[1',
    '[1,',
    '[1,]',
    '[,1]',
    '[1 2]',
    '[1}',
    '[1]]',
    '{',
    '}',
    '{"a"',
    '{"a":',
    '{"a":}',
    '{"a":1',
    '{"a":1,',
    '{"a":1,}',
    '{,"a":1}',
    '{"a" 1}',
    '{"a":1 "b":2}',
    '{"a":1]',
    '{a:1}',
    '{1:1}',
    "{'a':1}",
    '{"a"::1}',
    '{null:1}',
    '// x\n1',
    '/* x */1',
    '1 // x',
    '\u00a01',
    '\u000b1',
    '\u000c1',
    '\u20281',
    '[1,\u00a02]',
    '\u0000',
    '1\u0000',
    '\ufffe1',
  ]
  test.each(syntax)('syntax: %j', (text) => {
    expect(() => JSON.parse(text)).toThrow()
    expect(faultOf(text).kind).toBe('syntax')
  })

  test.each(['\ufeff1', '\ufeff', '\ufeff{}'])('a byte order mark: %j', (text) => {
    expect(faultOf(text)).toMatchObject({ kind: 'encoding', offset: 0, line: 1, column: 1 })
    expect(faultOf(text).message).toContain('byte order mark')
  })

  const surrogates = [
    '\\ud800',
    '\\udc00',
    '\\udfff',
    '\\ud83dx',
    '\\ud83d\\n',
    '\\ud83d\\ud83d',
    '\\ude00\\ud83d',
  ]
  test.each([...surrogates, '\\ud83d\\u0041', '\\ud83d\\u12'])('half a surrogate pair: %s', (escapes) => {
    expect(faultOf(`"${escapes}"`).kind).toBe('encoding')
    expect(faultOf(`{"${escapes}":1}`).kind).toBe('encoding')
  })

  test.each(['1e309', '-1e309', '1e999999999999999999', '9'.repeat(310), `-${'9'.repeat(400)}`])(
    'too large to hold: %#',
    (text) => expect(faultOf(`[${text}]`)).toMatchObject({ kind: 'number', offset: 1, path: '[0]' }),
  )

  test('a number of more than 400 characters', () => {
    expect(faultOf(`0.${'1'.repeat(399)}`).kind).toBe('number')
    expect(readOf(`0.${'1'.repeat(398)}`)).toBeCloseTo(0.1111)
  })
})

describe('the strict JSON reader rejects bytes that are not UTF-8', () => {
  const sequences: [string, number[]][] = [
    ['a lone continuation', [0x80]],
    ['a lone lead', [0xc3]],
    ['an overlong slash', [0xc0, 0xaf]],
    ['an overlong quote', [0xe0, 0x80, 0xa2]],
    ['a surrogate', [0xed, 0xa0, 0x80]],
    ['a pair of surrogates', [0xed, 0xa0, 0xbd, 0xed, 0xb8, 0x80]],
    ['past U+10FFFF', [0xf4, 0x90, 0x80, 0x80]],
    ['five bytes', [0xf8, 0x88, 0x80, 0x80, 0x80]],
    ['a cut sequence', [0xe2, 0x82]],
    ['a cut long sequence', [0xf0, 0x9f, 0x98]],
    ['an overlong long sequence', [0xf0, 0x80, 0x80, 0x80]],
    ['a byte of no sequence', [0xff]],
  ]
  test.each(sequences)('%s', (_name, bytes) => {
    const before = bytesOf('{\n "é\u{1f600}": "')
    const body = new Uint8Array([...before, ...bytes, 0x22, 0x7d])
    const fault = faultOf(body)
    expect(fault).toMatchObject({ kind: 'encoding', offset: before.length, line: 2, column: 9 })
  })

  test('UTF-16 bodies', () => {
    expect(faultOf(new Uint8Array([0xff, 0xfe, 0x31, 0])).kind).toBe('encoding')
    expect(faultOf(new Uint8Array([0x31, 0])).kind).toBe('syntax')
  })

  test('reports the first invalid byte that TextDecoder finds', () => {
    const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
    const chunk = fc.oneof(fc.string({ unit: 'grapheme' }).map(bytesOf), fc.uint8Array({ maxLength: 4 }))
    fc.assert(
      fc.property(fc.array(chunk, { maxLength: 6 }), (chunks) => {
        const bytes = new Uint8Array(chunks.flatMap((part) => [...part]))
        const result = parseStrictJson(bytes)
        if (result.ok || result.fault.message !== 'these bytes are not UTF-8') {
          expect(() => decoder.decode(bytes)).not.toThrow()
          return
        }
        const { offset } = result.fault
        expect(() => decoder.decode(bytes)).toThrow()
        expect(() => decoder.decode(bytes.subarray(0, offset))).not.toThrow()
        for (let end = offset + 1; end <= Math.min(offset + 4, bytes.length); end++) {
          expect(() => decoder.decode(bytes.subarray(0, end))).toThrow()
        }
      }),
      { numRuns: 1000 },
    )
  }, 60_000)
})

describe('the strict JSON reader and keys', () => {
  test.each([
    ['{"a":1,"a":1}', 'a', 7],
    ['{"a":1,"\\u0061":2}', 'a', 7],
    ['{"a":null,"a":null}', 'a', 10],
    ['{"a":[],"b":0,"a":1}', 'a', 14],
    ['[0,{"x":{"y z":1,"y z":2}}]', '[1].x["y z"]', 17],
    ['{"secrets":[{"values":{"k":1,"k":2}}]}', 'secrets[0].values.k', 29],
    ['{"":1,"":2}', '[""]', 6],
    ['{"__proto__":1,"__proto__":2}', '__proto__', 15],
    ['{"constructor":1,"constructor":2}', 'constructor', 17],
    ['{"0":1,"0":2}', '["0"]', 7],
    [`{"${'k'.repeat(500)}":1,"${'k'.repeat(500)}":2}`, '["<key of 500 characters>"]', 506],
  ])('repeated: %s', (text, path, offset) => {
    expect(faultOf(text)).toMatchObject({ kind: 'duplicate_key', path, offset })
  })

  test('accepts the same key in two objects', () => {
    expect(plain(readOf('[{"a":{"a":1}},{"a":2}]'))).toStrictEqual([{ a: { a: 1 } }, { a: 2 }])
  })

  test('reads __proto__ and constructor as ordinary keys', () => {
    const value = readOf(
      '{"__proto__":{"polluted":1},"constructor":{"prototype":2},"toString":3,"hasOwnProperty":4}',
    )
    expect(Object.keys(value ?? {})).toEqual(['__proto__', 'constructor', 'toString', 'hasOwnProperty'])
    expect(Object.getPrototypeOf(value)).toBeNull()
    expect(Reflect.get({}, 'polluted')).toBeUndefined()
  })
})

describe('the strict JSON reader limits depth', () => {
  const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)

  test('accepts 32 levels and rejects 33', () => {
    expect(parse(nested(32)).ok).toBe(true)
    expect(faultOf(nested(33))).toMatchObject({ kind: 'depth', offset: 32 })
    expect(parse(`${'{"a":'.repeat(32)}1${'}'.repeat(32)}`).ok).toBe(true)
    expect(faultOf(`${'{"a":'.repeat(33)}1${'}'.repeat(33)}`).kind).toBe('depth')
  })

  test('lets the caller set the limit, up to what the stack allows', () => {
    expect(faultOf(nested(3), 2).kind).toBe('depth')
    expect(parseStrictJson(bytesOf(nested(512)), { maxDepth: 1e9 }).ok).toBe(true)
    expect(faultOf(nested(513), 1e9).kind).toBe('depth')
  })

  test.each(['[', '{"a":', '[[{"x":'])('rejects a deeply nested body of %s', (unit) => {
    expect(faultOf(unit.repeat(100_000)).kind).toBe('depth')
  })
})

describe('the strict JSON reader limits the number of values', () => {
  const read = (text: string, maxValues: number) => parseStrictJson(Buffer.from(text), { maxValues })

  test('counts members and elements at every depth', () => {
    expect(read('{"a":[1,2],"b":{"c":3}}', 5)).toMatchObject({ ok: true })
    expect(read('{"a":[1,2],"b":{"c":3}}', 4)).toMatchObject({
      ok: false,
      fault: { kind: 'values', offset: 16 },
    })
    expect(read('[[],[],[]]', 2)).toMatchObject({ ok: false, fault: { kind: 'values' } })
  })

  test('accepts any number of values without a limit', () => {
    expect(parseStrictJson(Buffer.from(`[${'0,'.repeat(100_000)}0]`))).toMatchObject({ ok: true })
  })
})

describe('a fault of the strict JSON reader', () => {
  test('has an offset in bytes, a line, a column in characters and a path', () => {
    expect(faultOf('{\n  "é": [1,\r\n   "\u{1f600}", x]}')).toStrictEqual({
      kind: 'syntax',
      offset: 26,
      line: 3,
      column: 9,
      message: 'a JSON value is expected here',
      path: '["é"][2]',
    })
    expect(faultOf('{"a" 1}')).toMatchObject({ offset: 5, column: 6 })
    expect(faultOf('[1,2')).toMatchObject({ offset: 4, column: 5 })
    expect(faultOf('1 x')).not.toHaveProperty('path')
  })

  test('never quotes a value', () => {
    const canary = 'canary8341'
    const broken = [
      '"@',
      '"@\u0001"',
      '"@\\q"',
      '"@\\ud800"',
      '@',
      '"@" x',
      '["@" "@"]',
      '{"k":"@" "@"}',
      "'@'",
      '"@\\u00zz"',
    ]
    for (const text of broken) {
      const fault = faultOf(`{"field":${text.replaceAll('@', canary)}`)
      expect(JSON.stringify(fault)).not.toContain(canary)
    }
  })
})

describe('the strict JSON reader reads one hostile MiB in linear time', () => {
  const MIB = 1024 * 1024
  const bodies: [string, string][] = [
    ['unicode escapes', `"${'\\u0041'.repeat(MIB / 6)}"`],
    ['short escapes', `"${'\\n'.repeat(MIB / 2)}"`],
    ['one digit string', '9'.repeat(MIB)],
    ['long whole numbers', `[${`${'9'.repeat(300)},`.repeat(MIB / 301)}0]`],
    ['one fraction', `0.${'7'.repeat(MIB)}`],
    ['many keys', `{${Array.from({ length: 80_000 }, (_, index) => `"key${index}":0`).join(',')}}`],
    [
      'many whole-number keys',
      `{${Array.from({ length: 80_000 }, (_, index) => `"${index * 40_503}":0`).join(',')}}`,
    ],
    ['many objects', `[${'{},'.repeat(MIB / 3)}0]`],
    ['many lists', `[${'[],'.repeat(MIB / 3)}0]`],
    ['brackets', '['.repeat(MIB)],
    ['spaces', ' '.repeat(MIB)],
    ['line breaks and a fault', `${'\n'.repeat(MIB)}x`],
    ['an open string', `"${'a'.repeat(MIB)}`],
  ]
  // A reader of quadratic time would need minutes for these bodies.
  test.each(bodies)('%s', (_name, text) => {
    const bytes = bytesOf(text)
    expect(cpuMsOf(() => parseStrictJson(bytes))).toBeLessThan(5_000)
  })
})

test('utf8Length returns the length that TextEncoder produces', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'binary' }),
      fc.string({ unit: fc.constantFrom('\ud800', '\udc00', 'é', 'a') }),
      (a, b) => {
        expect(utf8Length(a + b)).toBe(bytesOf(a + b).length)
      },
    ),
  )
})

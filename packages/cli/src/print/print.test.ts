// The layout of tables, ages and amounts, and the exit codes of failures.

import type { Failure } from '@holdfast/client'
import type { Code, NodeId } from '@holdfast/contract'
import { describe, expect, test } from 'vitest'
import { age } from './age.ts'
import { cpu, memory, ofKind } from './amounts.ts'
import { exitCodeOf } from './failure.ts'
import { cutTo, widthOf, wrapWords } from './fit.ts'
import { matrixLines } from './matrix.ts'
import { plain, plainLines } from './plain.ts'
import { indent } from './sections.ts'
import { alignRows, type Column, tableLines } from './table.ts'

describe('a table', () => {
  const columns = [
    { header: 'NAME', value: ({ name }: { name: string }) => name },
    { header: 'WIDE', wide: true as const, value: () => 'w' },
    { header: 'LAST', value: () => '' },
  ]
  test('is as wide as its widest cell and prints empty cells as -', () =>
    expect(tableLines(columns, [{ name: 'a' }, { name: 'bcdefg' }], { nowMs: 0 })).toEqual([
      'NAME    LAST',
      'a       -',
      'bcdefg  -',
    ]))
  test('can show wide columns and omit the header, under which its rows still stand', () =>
    expect(tableLines(columns, [{ name: 'a' }], { nowMs: 0, wide: true, header: false })).toEqual([
      'a     w     -',
    ]))
  test('measures terminal cells, not code units', () => {
    expect([widthOf('abc'), widthOf('é'), widthOf('日本'), widthOf('e\u0301')]).toEqual([3, 1, 4, 1])
  })
  test('escapes control characters', () => {
    expect(plain('a\u001b[2Jb\nc\u202e')).toBe('a\\u001b[2Jb c\\u202e')
    expect(plainLines('a\n\tb\r')).toBe('a\n\tb\\u000d')
    expect(tableLines(columns, [{ name: '\u001b[31m' }], { nowMs: 0, header: false })).toEqual([
      '\\u001b[31m  -',
    ])
  })
})

describe('a table on a narrow terminal', () => {
  interface Row {
    readonly name: string
    readonly image: string
    readonly text: string
  }
  const columns: readonly Column<Row>[] = [
    { header: 'NAME', value: ({ name }) => name },
    { header: 'IMAGE', drop: 1, value: ({ image }) => image, short: () => 'web:1' },
    { header: 'AGE', drop: 2, value: () => '12m' },
    { header: 'MESSAGE', value: ({ text }) => text },
  ]
  const item = { name: 'web', image: 'registry.example.com/shop/web:1', text: 'one two three four five six' }
  const shown = (room: number, row: Partial<Row> = {}, wide = false) =>
    tableLines(columns, [{ ...item, ...row }], { nowMs: 0, columns: room, wide })
  test('uses short texts first, then drops columns, and wraps the last one', () => {
    expect(shown(80)[1]).toBe('web   registry.example.com/shop/web:1  12m  one two three four five six')
    expect(shown(50)).toEqual(['NAME  IMAGE  AGE  MESSAGE', 'web   web:1  12m  one two three four five six'])
    expect(shown(36)).toEqual(['NAME  AGE  MESSAGE', 'web   12m  one two three four five', '           six'])
    expect(shown(32)).toEqual(['NAME  MESSAGE', 'web   one two three four five', '      six'])
  })
  test('puts the last column below the row if there is no room beside it', () =>
    expect(shown(30, { name: 'a-long-name-of-22-chars' })).toEqual([
      'NAME',
      '    MESSAGE',
      'a-long-name-of-22-chars',
      '    one two three four five',
      '    six',
    ]))
  test('becomes one block per item with -o wide, or if a name is too long', () => {
    expect(shown(40, {}, true)).toEqual([
      'NAME     web',
      'IMAGE    registry.example.com/shop/web:1',
      'AGE      12m',
      'MESSAGE  one two three four five six',
    ])
    expect(shown(30, { name: 'n'.repeat(31) })[0]).toBe(`NAME     ${'n'.repeat(31)}`)
  })
  test('never breaks a word and never exceeds the width', () => {
    const words = Array.from({ length: 40 }, (_, at) => 'abcdefghijklmnop'.slice(0, 1 + (at % 16))).join(' ')
    for (const room of [40, 60, 80, 110])
      for (const line of shown(room, { text: words })) {
        expect(widthOf(line)).toBeLessThanOrEqual(room)
        const known = new Set([...words.split(' '), 'web', 'web:1', item.image, '12m'])
        for (const word of line.split(/ +/).filter((each) => each !== ''))
          expect(known.has(word) || /^[A-Z]+$/.test(word)).toBe(true)
      }
  })
})

describe('fitting text to a width', () => {
  const red = '\u001b[31mfailed\u001b[0m'
  test('colors have no width and end at a cut', () => {
    expect(widthOf(red)).toBe(6)
    expect([cutTo('abcdef', 6), cutTo('abcdef', 4), cutTo('日本語', 4)]).toEqual(['abcdef', 'abc…', '日…'])
    expect(cutTo(`${red} again`, 4)).toBe('\u001b[31mfai…\u001b[0m')
  })
  test('lines wrap between words; a long word is not broken', () =>
    expect(wrapWords('one two sha256:0123456789 three', 8)).toEqual([
      'one two',
      'sha256:0123456789',
      'three',
    ]))
  test('the last column wraps below itself', () =>
    expect(alignRows([['a', 'bb', 'one two three four five six seven eight']], 32)).toEqual([
      'a  bb  one two three four five',
      '       six seven eight',
    ]))
})

describe('the placement matrix', () => {
  const explained = {
    candidates: [
      {
        nodeId: 'node_1' as NodeId,
        nodeName: 'n1',
        refusals: [
          {
            filter: 'cordon' as const,
            code: 'node_cordoned',
            required: { schedulable: true },
            reported: { schedulable: false },
            fix: 'Uncordon n1.',
          },
        ],
        cure: { text: 'Uncordon n1.', changes: [{ kind: 'uncordon' as const, text: 'Uncordon n1.' }] },
      },
    ],
    cure: ['Uncordon n1.'],
  }
  const shown = (columns: number) => matrixLines(explained, { columns, colored: false })
  const remedy = ['', 'To run it:', '  - Uncordon n1.']
  test('is a table if it fits', () =>
    expect(shown(80)).toEqual([
      'NODE  REASON         REQUIRED           REPORTED            REMEDY',
      'n1    node_cordoned  schedulable: true  schedulable: false  Uncordon n1.',
      ...remedy,
    ]))
  test('drops the remedy column if the list below repeats it', () =>
    expect(shown(64)[0]).toBe('NODE  REASON         REQUIRED           REPORTED'))
  test('is one block per node on a narrow terminal', () =>
    expect(shown(40)).toEqual([
      'n1: node_cordoned',
      '  required  schedulable: true',
      '  reported  schedulable: false',
      ...remedy,
    ]))

  const [first] = explained.candidates
  const many = (...texts: (string | undefined)[]) => ({
    candidates: texts.flatMap((text, at) =>
      first === undefined
        ? []
        : [
            {
              nodeId: first.nodeId,
              nodeName: `n${at + 1}`,
              refusals: first.refusals,
              ...(text === undefined ? {} : { cure: { text, changes: [] } }),
            },
          ],
    ),
    cure: texts.flatMap((text) => text ?? []).sort((left, right) => left.length - right.length),
  })
  test('shows the remedy of each node, and below it the cheapest remedies first', () =>
    expect(
      matrixLines(many('Bring n1 back online. Uncordon n1.', 'Uncordon n2.'), {
        columns: 95,
        colored: false,
      }),
    ).toEqual([
      'NODE  REASON         REQUIRED           REPORTED            REMEDY',
      'n1    node_cordoned  schedulable: true  schedulable: false  Bring n1 back online. Uncordon n1.',
      'n2    node_cordoned  schedulable: true  schedulable: false  Uncordon n2.',
      '',
      'To run it, do one of these:',
      '  - Uncordon n2.',
      '  - Bring n1 back online. Uncordon n1.',
    ]))
  test('shows the hints of the refusals for a node without a remedy', () =>
    expect(matrixLines(many(undefined), { columns: 40, colored: false })).toEqual([
      'n1: node_cordoned',
      '  required  schedulable: true',
      '  reported  schedulable: false',
      '  remedy    Uncordon n1.',
    ]))
  test('shows a group of nodes as one row, with the first names and the number of the others', () => {
    const group = {
      reasons: [{ filter: 'cordon' as const, code: 'node_cordoned', required: true, reported: false }],
      cure: { text: 'Uncordon n1.', changes: [] },
    }
    const groups = [
      { ...group, count: 9_000, nodes: ['n1', 'n2', 'n3', 'n4'] },
      { reasons: [], count: 2, nodes: ['n8', 'n9'] },
    ]
    expect(
      matrixLines({ candidates: [], groups, cure: ['Uncordon n1.'] }, { columns: 80, colored: false }),
    ).toEqual([
      'NODE                      REASON         REQUIRED  REPORTED  REMEDY',
      'n1, n2, n3 and 8997 more  node_cordoned  true      false     Uncordon n1.',
      'n8, n9                    fits',
      ...remedy,
    ])
  })
  test('stays within the width, however long the remedies are', () => {
    const long =
      'Enroll n1 again with a join token that attests the label holdfast.io/country as "DE", if the machine is located there.'
    for (const columns of [40, 60, 80, 100])
      for (const line of matrixLines(many(long, undefined, `${long} ${long}`), { columns, colored: false }))
        expect(widthOf(line)).toBeLessThanOrEqual(columns)
  })
})

test('indenting adds no blanks to empty lines', () =>
  expect(indent(['a', '', 'b'])).toEqual(['  a', '', '  b']))

describe('an age', () => {
  const now = Date.parse('2026-01-31T12:00:00Z')
  test.each([
    ['2026-01-31T12:00:00Z', '0s'],
    ['2026-01-31T11:59:18Z', '42s'],
    ['2026-01-31T11:58:30Z', '1m30s'],
    ['2026-01-31T11:40:30Z', '19m'],
    ['2026-01-31T10:30:00Z', '1h30m'],
    ['2026-01-29T09:00:00Z', '2d3h'],
    ['2025-01-31T12:00:00Z', '365d'],
    ['2026-01-31T12:00:09Z', '0s'],
    [null, '-'],
  ])('%s is %s', (time, text) => expect(age(time, now)).toBe(text))
})

test('formats quotas, CPU and memory amounts', () => {
  expect([ofKind('stored_bytes', 16 * 1024 ** 2), ofKind('nodes', 50)]).toEqual(['16MiB', '50'])
  expect([cpu(4000), cpu(250), memory(0), memory(8 * 1024 ** 3), memory(1_600_000)]).toEqual([
    '4',
    '250m',
    '0B',
    '8GiB',
    '1.5MiB',
  ])
})

describe('the exit code of a failure', () => {
  const rejected = (status: number, code = 'name_required'): Failure => ({
    kind: 'rejected',
    status,
    rejections: [{ code: code as Code, field: '', received: '', expected: '', why: '', doc: '' }],
  })
  test.each<[Failure, number]>([
    [rejected(422), 3],
    [rejected(403), 3],
    [rejected(404), 5],
    [rejected(409), 6],
    [rejected(409, 'quota_exceeded'), 3],
    [rejected(412), 6],
    [rejected(401), 7],
    [rejected(429), 7],
    [rejected(503), 7],
    [{ kind: 'unreachable', reason: '' }, 7],
    [{ kind: 'unexpected', status: 502, reason: '' }, 7],
    [{ kind: 'interrupted' }, 130],
  ])('%j is %i', (failure, code) => expect(exitCodeOf(failure)).toBe(code))
})

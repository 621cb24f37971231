// Tables, ages and amounts as people read them; failures as exit codes.

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
import { alignRows, tableLines } from './table.ts'

describe('a table', () => {
  const columns = [
    { header: 'NAME', value: ({ name }: { name: string }) => name },
    { header: 'WIDE', wide: true as const, value: () => 'w' },
    { header: 'LAST', value: () => '' },
  ]
  test('is as wide as its widest cell, and shows what is empty', () =>
    expect(tableLines(columns, [{ name: 'a' }, { name: 'bcdefg' }], { nowMs: 0 })).toEqual([
      ...['NAME    LAST', 'a       -', 'bcdefg  -'],
    ]))
  test('with its wide columns, and without a header', () =>
    expect(tableLines(columns, [{ name: 'a' }], { nowMs: 0, wide: true, header: false })).toEqual([
      'a  w  -',
    ]))
  test('counts cells, not units', () => {
    expect([widthOf('abc'), widthOf('é'), widthOf('日本'), widthOf('e\u0301')]).toEqual([3, 1, 4, 1])
  })
  test('lets nothing steer the terminal', () => {
    expect(plain('a\u001b[2Jb\nc\u202e')).toBe('a\\u001b[2Jb c\\u202e')
    expect(plainLines('a\n\tb\r')).toBe('a\n\tb\\u000d')
    expect(tableLines(columns, [{ name: '\u001b[31m' }], { nowMs: 0, header: false })).toEqual([
      '\\u001b[31m  -',
    ])
  })
})

describe('room', () => {
  const red = '\u001b[31mfailed\u001b[0m'
  test('a colour takes none, and does not run on behind a cut', () => {
    expect(widthOf(red)).toBe(6)
    expect([cutTo('abcdef', 6), cutTo('abcdef', 4), cutTo('日本語', 4)]).toEqual(['abcdef', 'abc…', '日…'])
    expect(cutTo(`${red} again`, 4)).toBe('\u001b[31mfai…\u001b[0m')
  })
  test('words are broken apart, a long one stays whole', () =>
    expect(wrapWords('one two sha256:0123456789 three', 8)).toEqual([
      'one two',
      'sha256:0123456789',
      'three',
    ]))
  test('the last column goes on under itself', () =>
    expect(alignRows([['a', 'bb', 'one two three four five six seven eight']], 32)).toEqual([
      ...['a  bb  one two three four five', '       six seven eight'],
    ]))
})

describe('the matrix', () => {
  const explained = {
    candidates: [
      {
        nodeId: 'node_1' as NodeId,
        nodeName: 'n1',
        refusals: [
          ...[{ filter: 'cordon' as const, code: 'node_cordoned', required: { schedulable: true } }].map(
            (each) => ({ ...each, reported: { schedulable: false }, fix: 'Uncordon n1.' }),
          ),
        ],
        cure: { text: 'Uncordon n1.', changes: [{ kind: 'uncordon' as const, text: 'Uncordon n1.' }] },
      },
    ],
    cure: ['Uncordon n1.'],
  }
  const shown = (columns: number) => matrixLines(explained, { columns, colored: false })
  const cure = ['', 'To run it:', '  - Uncordon n1.']
  test('is a table where there is room', () =>
    expect(shown(80)).toEqual([
      'NODE  REFUSES BY     REQUIRED           REPORTED            CURE',
      'n1    node_cordoned  schedulable: true  schedulable: false  Uncordon n1.',
      ...cure,
    ]))
  test('loses the column that is said again below', () =>
    expect(shown(64)[0]).toBe('NODE  REFUSES BY     REQUIRED           REPORTED'))
  test('and else goes down node by node', () =>
    expect(shown(40)).toEqual([
      ...['n1 refuses by node_cordoned', '  required  schedulable: true', '  reported  schedulable: false'],
      ...cure,
    ]))

  const [first] = explained.candidates
  const many = (...texts: (string | undefined)[]) => ({
    candidates: texts.flatMap((text, at) =>
      first === undefined
        ? []
        : [
            {
              ...{ nodeId: first.nodeId, nodeName: `n${at + 1}`, refusals: first.refusals },
              ...(text === undefined ? {} : { cure: { text, changes: [] } }),
            },
          ],
    ),
    cure: texts.flatMap((text) => text ?? []).sort((left, right) => left.length - right.length),
  })
  test('says the cure of each node beside it, broken between words, and the cheapest first below', () =>
    expect(
      matrixLines(many('Bring n1 back. Uncordon n1.', 'Uncordon n2.'), { columns: 88, colored: false }),
    ).toEqual([
      'NODE  REFUSES BY     REQUIRED           REPORTED            CURE',
      'n1    node_cordoned  schedulable: true  schedulable: false  Bring n1 back. Uncordon n1.',
      'n2    node_cordoned  schedulable: true  schedulable: false  Uncordon n2.',
      ...['', 'To run it, any one of these:', '  - Uncordon n2.', '  - Bring n1 back. Uncordon n1.'],
    ]))
  test('of a node that nothing cures, says what its refusals do', () =>
    expect(matrixLines(many(undefined), { columns: 40, colored: false })).toEqual([
      ...['n1 refuses by node_cordoned', '  required  schedulable: true', '  reported  schedulable: false'],
      '  cure      Uncordon n1.',
    ]))
  test('stays within 80 columns, however long the cures are', () => {
    const long = 'Enroll n1 anew with a join token that attests holdfast.io/country=DE, if it stands there.'
    for (const columns of [40, 60, 80, 100])
      for (const line of matrixLines(many(long, undefined, `${long} ${long}`), { columns, colored: false }))
        expect(widthOf(line)).toBeLessThanOrEqual(columns)
  })
})

test('what is set in ends where its words end', () =>
  expect(indent(['a', '', 'b'])).toEqual(['  a', '', '  b']))

describe('how long ago', () => {
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
  ])('%s is %s', (time, told) => expect(age(time, now)).toBe(told))
})

test('amounts', () => {
  expect([ofKind('stored_bytes', 16 * 1024 ** 2), ofKind('nodes', 50)]).toEqual(['16MiB', '50'])
  expect([cpu(4000), cpu(250), memory(0), memory(8 * 1024 ** 3), memory(1_600_000)]).toEqual([
    ...['4', '250m', '0B', '8GiB', '1.5MiB'],
  ])
})

describe('exit codes', () => {
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

// Tests which form of records is written next: of the servers' own accord, for a request, and by an operator.

import { expect, test } from 'vitest'
import { FIRST_FORMAT } from './format.ts'
import { decideForm, type Finalize, raisedFormat } from './next-format.ts'
import type { RecordForm } from './records/collection.ts'

const FIRST: RecordForm = { v: 1, since: '0.1.0' }
const SECOND: RecordForm = { v: 2, since: '0.2.0' }
const DEMANDED: RecordForm = { ...SECOND, onDemand: true }
const RAISED = { v: 1, reads: 2, writes: 2, by: '0.2.0' }

test.each<[string, number, RecordForm, Finalize, unknown]>([
  ['all servers read the new form', 2, SECOND, 'auto', RAISED],
  ['one server reads the older form only', 1, SECOND, 'auto', undefined],
  ['the form is raised on demand', 2, DEMANDED, 'auto', undefined],
  ['an operator finalizes upgrades', 2, SECOND, 'manual', undefined],
  ['all servers read a form that this one does not know', 3, SECOND, 'auto', undefined],
])('the servers write the form automatically or not: %s', (_, common, second, finalize, expected) => {
  expect(raisedFormat(FIRST_FORMAT, common, { forms: [FIRST, second], finalize })).toEqual(expected)
})

test('the form is never lowered', () => {
  const format = { ...RAISED, writes: 3 }
  expect(raisedFormat(format, 2, { forms: [FIRST, SECOND], finalize: 'auto' })).toBeUndefined()
  expect(decideForm(format, SECOND, { readers: [], finalize: 'auto' })).toEqual({ kind: 'written' })
})

const OLD = { name: 'srv_a (0.1.0)', reads: 1 }
const NEW = { name: 'srv_b (0.2.0)', reads: 2 }

test.each([
  ['no server runs', [], 'auto', { kind: 'raise', format: RAISED }],
  ['all servers read it', [NEW, NEW], 'auto', { kind: 'raise', format: RAISED }],
  ['one server does not read it', [NEW, OLD], 'auto', { kind: 'behind', servers: [OLD.name] }],
  ['one does not, and an operator finalizes', [OLD], 'manual', { kind: 'behind', servers: [OLD.name] }],
  ['all read it, and an operator finalizes', [NEW], 'manual', { kind: 'not finalized' }],
] as const)('a needed form is raised or not: %s', (_, readers, finalize, expected) => {
  expect(decideForm(FIRST_FORMAT, DEMANDED, { readers, finalize })).toEqual(expected)
})

test('a form that is written already needs no server and no operator', () => {
  expect(decideForm(RAISED, DEMANDED, { readers: [OLD], finalize: 'manual' })).toEqual({ kind: 'written' })
})

import { asVolumeId } from '@holdfast/contract'
import { expect, test } from 'vitest'
import { RENEW_VOLUMES, readAnswer, readRenewSet, readRequest } from './messages.ts'
import { nameOfSet } from './renewals.ts'

const VOLUME = asVolumeId('vol_01JCPZ0000000000000000000A')
const LARGEST = 999_999_999_999_999
const ITEM = { volume: VOLUME, epoch: 1, cv: 2 }
const RENEW = { request: 'renew', sent: { boot: 1, ms: 2 }, start: 3, lease: 12_000, set: nameOfSet([ITEM]) }

test('a renewal is read with its stamp, and without members that older agents do not know', () => {
  expect(readRequest(JSON.stringify({ ...RENEW, later: true }))).toMatchObject(RENEW)
  const { start: _, ...unknown } = RENEW
  expect(readRequest(JSON.stringify(unknown))).toEqual(unknown)
})

test.each([
  ['no stamp', { sent: undefined }],
  ['a stamp before the boot', { sent: { boot: 1, ms: -1 } }],
  ['a stamp of no boot', { sent: { boot: 0.5, ms: 1 } }],
  ['no lease', { lease: undefined }],
  ['a negative lease', { lease: -1 }],
  ['a start that is too large', { start: LARGEST + 1 }],
  ['no set', { set: undefined }],
  ['a set with another name', { set: '../../../../etc/passwd' }],
  ['a set name that is too long', { set: 'A'.repeat(23) }],
])('a renewal with %s is malformed', (_, changes) => {
  expect(() => readRequest(JSON.stringify({ ...RENEW, ...changes }))).toThrow()
})

test('a set has at most 10,000 volumes, which fit into a frame', () => {
  const items = Array.from({ length: RENEW_VOLUMES }, () => ({ volume: VOLUME, epoch: LARGEST, cv: LARGEST }))
  const text = JSON.stringify(items)
  expect(readRenewSet(text)).toHaveLength(RENEW_VOLUMES)
  expect(text.length).toBeLessThanOrEqual(1024 ** 2)
  expect(() => readRenewSet(JSON.stringify([...items, ITEM]))).toThrow('set')
})

test.each([
  [{ ...ITEM, volume: '../x' }],
  [{ ...ITEM, epoch: -1 }],
  [{ ...ITEM, cv: LARGEST + 1 }],
  [{ volume: VOLUME }],
  ['text'],
])('a set with %j is malformed', (item) => {
  expect(() => readRenewSet(JSON.stringify([item]))).toThrow()
})

test('sets with another order, epoch or version have other names', () => {
  const other = { ...ITEM, volume: asVolumeId('vol_01JCPZ0000000000000000000B') }
  const sets = [
    [ITEM, other],
    [other, ITEM],
    [{ ...ITEM, epoch: 2 }, other],
    [{ ...ITEM, cv: 3 }, other],
    [ITEM],
  ]
  expect(new Set(sets.map(nameOfSet)).size).toBe(sets.length)
})

test('an answer names positions within the bound only', () => {
  const positions = Array.from({ length: RENEW_VOLUMES }, (_, at) => at)
  const answer = { answer: 'renewed', start: 1, refused: positions }
  expect(readAnswer(JSON.stringify(answer)).refused).toHaveLength(RENEW_VOLUMES)
  expect(() => readAnswer(JSON.stringify({ ...answer, refused: [...positions, 1] }))).toThrow('positions')
  expect(() => readAnswer(JSON.stringify({ ...answer, refused: [-1] }))).toThrow('positions')
})

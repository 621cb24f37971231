import { asNodeId, asVolumeId, type Configuration, type DesiredCopy } from '@holdfast/contract'
import { expect, test } from 'vitest'
import { PROMOTION_TIMINGS as timings } from '../timings.ts'
import { promiseState } from './copy-promise.ts'
import { roleEndMs } from './follow-volume.ts'
import { recoverRole } from './recover-role.ts'

const VOLUME = asVolumeId('vol_01JCPZ0000000000000000000A')
const A = asNodeId('node_01JCPZ0000000000000000000A')
const B = asNodeId('node_01JCPZ0000000000000000000B')
const C = asNodeId('node_01JCPZ0000000000000000000C')
const STORED: Configuration = { volume: VOLUME, epoch: 2, primary: A, promotable: [B], cv: 7 }
const PRIMARY: DesiredCopy = {
  volume: VOLUME,
  epoch: 2,
  role: 'primary',
  sizeBytes: 1,
  desired: 'present',
  mayCreate: false,
  from: { epoch: 1, number: 3 },
  peers: [B, C],
  cv: 5,
  promotable: [],
}
const REPLICA: DesiredCopy = { ...PRIMARY, role: 'replica', peers: [A] }
const self = (node: string, nowMs = 1_000) => ({ node, start: 3, boot: 3, nowMs, timings })

test('a promotable copy waits until its last promise has expired, and counts then as one that has voted', () => {
  const endMs = 1_000 + timings.promiseMs
  expect(recoverRole(REPLICA, STORED, self(B, endMs - 1), 1_000)).toBeUndefined()
  const role = recoverRole(REPLICA, STORED, self(B, endMs), 1_000)
  if (role?.role !== 'copy') throw new Error('no copy')
  expect(role.copy.durable).toMatchObject({ epoch: 2, cv: 7, prepared: true })
  expect(promiseState(role.copy, endMs)).toBe('voted')
})

test('a copy that is not promotable has no vote that could commit', () => {
  const role = recoverRole(REPLICA, STORED, self(C), 1_000)
  expect(role).toMatchObject({ copy: { durable: { cv: 7, prepared: false } } })
})

test('a primary needs the promises of all copies, because a request for any of them may be under way', () => {
  const role = recoverRole(PRIMARY, STORED, self(A), 1_000)
  if (role?.role !== 'primary') throw new Error('no primary')
  expect(role.primary.durable).toMatchObject({ cv: 7, configured: [B], asked: [C] })
  expect([role.isConfirmed, roleEndMs(role, false, timings)]).toEqual([true, Number.NEGATIVE_INFINITY])
})

test('a primary without copies needs no promise', () => {
  const role = recoverRole({ ...PRIMARY, peers: [] }, { ...STORED, promotable: [] }, self(A), 1_000)
  expect(role?.role === 'primary' && roleEndMs(role, false, timings)).toBe(Number.POSITIVE_INFINITY)
})

test('a primary that hands over has no request under way: the begin of the handover outdates all', () => {
  const role = recoverRole(PRIMARY, { ...STORED, handOverTo: B }, self(A), 1_000)
  expect(role).toMatchObject({ primary: { durable: { asked: [], handover: { to: B, abdicated: false } } } })
})

test.each([
  ['a newer epoch', PRIMARY, { ...STORED, epoch: 3 }],
  ['an older epoch', PRIMARY, { ...STORED, epoch: 1 }],
  ['another primary', PRIMARY, { ...STORED, primary: C }],
  ['this node as primary of what is desired as a replica', REPLICA, STORED],
])('nothing is recovered from %s', (_, desired, stored) => {
  expect(recoverRole(desired, stored, self(A), 1_000)).toBeUndefined()
})

import { asNodeId, asVolumeId, type DesiredCopy } from '@holdfast/contract'
import { describe, expect, test } from 'vitest'
import { leaseEndMs, onAck } from '../primary.ts'
import { PROMOTION_TIMINGS as timings } from '../timings.ts'
import {
  type CopyRole,
  followVolume,
  onConfiguration,
  type PrimaryRole,
  restoreRole,
  roleEndMs,
  savedRole,
  type VolumeRole,
} from './follow-volume.ts'

const VOLUME = asVolumeId('vol_01JCPZ0000000000000000000A')
const [A, B] = [asNodeId('node_01JCPZ0000000000000000000A'), asNodeId('node_01JCPZ0000000000000000000B')]
const COPY: DesiredCopy = {
  volume: VOLUME,
  epoch: 1,
  role: 'primary',
  sizeBytes: 1,
  desired: 'present',
  mayCreate: true,
  peers: [B],
  cv: 1,
  promotable: [B],
}
const REPLICA: DesiredCopy = { ...COPY, role: 'replica', peers: [B] }
const self = (nowMs = 0) => ({ node: A, start: 3, boot: 1, nowMs, timings })

function asPrimary(role: VolumeRole): PrimaryRole {
  if (role.role !== 'primary') throw new Error('no primary')
  return role
}
function asCopy(role: VolumeRole): CopyRole {
  if (role.role !== 'copy') throw new Error('no copy')
  return role
}
const primary = (changes: Partial<DesiredCopy> = {}): PrimaryRole =>
  asPrimary(followVolume(undefined, { ...COPY, ...changes }, self()))
const acked = (role: PrimaryRole, ms: number): PrimaryRole => {
  const ack = { kind: 'ack', from: B, to: A, epoch: 1, sent: { boot: 1, ms }, start: 1 } as const
  return { ...role, primary: onAck(role.primary, ack, ms).state }
}

describe('a primary', () => {
  test('needs the promises of the promotable nodes, and none without them', () => {
    expect(roleEndMs(primary(), false, timings)).toBe(Number.NEGATIVE_INFINITY)
    expect(roleEndMs(acked(primary(), 5_000), false, timings)).toBe(17_000)
    expect(roleEndMs(primary({ promotable: [] }), false, timings)).toBe(Number.POSITIVE_INFINITY)
  })

  test('has no lease after it has released the volume or was deposed, whatever was acknowledged', () => {
    const role = acked(primary(), 5_000)
    expect(roleEndMs(role, true, timings)).toBe(Number.NEGATIVE_INFINITY)
    expect(roleEndMs(primary({ promotable: [] }), true, timings)).toBe(Number.NEGATIVE_INFINITY)
    const newer = { volume: VOLUME, epoch: 2, primary: B, promotable: [], cv: 2 }
    expect(roleEndMs(onConfiguration(role, newer), false, timings)).toBe(Number.NEGATIVE_INFINITY)
  })

  test('stays primary if an outdated server still names it as a copy', () => {
    const role = acked(primary({ epoch: 2 }), 5_000)
    for (const epoch of [1, 2]) expect(followVolume(role, { ...REPLICA, epoch }, self())).toBe(role)
    expect(followVolume(role, { ...REPLICA, epoch: 3 }, self()).role).toBe('copy')
  })

  test('keeps its lease and its requested nodes when the same copy is sent again', () => {
    const asked = acked(primary({ promotable: [] }), 5_000)
    const durable = { ...asked.primary.durable, asked: [B] }
    const before = { ...asked, primary: { ...asked.primary, durable }, unsent: [B] }
    const after = asPrimary(followVolume(before, { ...COPY, promotable: [] }, self(9_000)))
    expect(after).toEqual(before)
    expect(leaseEndMs(after.primary, timings)).toBe(17_000)
  })

  test('drops requested nodes with a newer version, and ignores an older one', () => {
    const role = primary({ promotable: [], cv: 5 })
    const durable = { ...role.primary.durable, asked: [B] }
    const asked = { ...role, primary: { ...role.primary, durable }, unsent: [B] }
    const newer = asPrimary(followVolume(asked, { ...COPY, promotable: [], cv: 6 }, self()))
    expect([newer.primary.durable.asked, newer.unsent]).toEqual([[], []])
    expect(followVolume(asked, { ...COPY, promotable: [], cv: 4 }, self())).toEqual(asked)
  })

  test('continues from disk with its requests, and with a lease of its own boot only by new acknowledgments', () => {
    const role = primary({ handOverTo: B, cv: 4 })
    const restored = asPrimary(restoreRole(savedRole({ ...role, unsent: [B] }), VOLUME, self(50)))
    expect(savedRole(restored)).toEqual(savedRole({ ...role, unsent: [B] }))
    expect(restored.primary.durable.handover).toEqual({ to: B, cv: 4, abdicated: false })
    expect(restored.primary.lease.size).toBe(0)
  })

  test('is confirmed at once only if it is the first one', () => {
    expect(primary().isConfirmed).toBe(true)
    const promoted = primary({ epoch: 2, from: { epoch: 1, number: 1 } })
    expect(promoted.isConfirmed).toBe(false)
    const stored = { volume: VOLUME, epoch: 2, promotable: [], cv: 1 }
    expect(onConfiguration(promoted, { ...stored, primary: B }).isConfirmed).toBe(false)
    expect(onConfiguration(promoted, { ...stored, epoch: 1, primary: A }).isConfirmed).toBe(false)
    expect(onConfiguration(promoted, { ...stored, primary: A }).isConfirmed).toBe(true)
  })
})

describe('a copy', () => {
  test('has promised at its start, also after a restart of the agent', () => {
    const role = asCopy(followVolume(undefined, REPLICA, self(1_000)))
    expect(role.copy.promisedUntilMs).toBe(19_000)
    expect(asCopy(restoreRole(savedRole(role), VOLUME, self(30_000))).copy.promisedUntilMs).toBe(48_000)
  })

  test('keeps its vote across restarts, until a newer version', () => {
    const saved = { role: 'copy', epoch: 1, cv: 1, prepared: true } as const
    const role = restoreRole(saved, VOLUME, self())
    expect(asCopy(followVolume(role, REPLICA, self())).copy.durable.prepared).toBe(true)
    expect(asCopy(followVolume(role, { ...REPLICA, cv: 2 }, self())).copy.durable.prepared).toBe(false)
  })

  test('becomes the primary with a newer epoch only', () => {
    const role = followVolume(undefined, REPLICA, self())
    expect(followVolume(role, COPY, self())).toEqual(role)
    const next = asPrimary(followVolume(role, { ...COPY, epoch: 2, from: { epoch: 1, number: 4 } }, self()))
    expect([next.primary.durable.epoch, next.isConfirmed]).toEqual([2, false])
  })

  test('is what a deposed primary becomes, with a promise from that moment', () => {
    const role = asCopy(followVolume(primary(), { ...REPLICA, epoch: 2, cv: 2 }, self(2_000)))
    expect(role.copy.durable).toMatchObject({ epoch: 2, cv: 2, prepared: false })
    expect(role.copy.promisedUntilMs).toBe(20_000)
  })
})

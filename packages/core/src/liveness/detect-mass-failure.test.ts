// Tests which nodes may be declared failed, in small clusters with a known result and in random clusters.

import type { NodeId, TenantId } from '@holdfast/contract'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type CellNode, detectMassFailure, type MassFailureFacts } from './detect-mass-failure.ts'

const TIMES = { failedMs: 120_000, massWindowMs: 60_000, massHoldMs: 600_000 }
const NEVER = { countedFrom: Number.NEGATIVE_INFINITY, massSeenAt: undefined }

/**
 * Builds nodes from a short notation: `a0` is a node of tenant a without heartbeats since second 0, `b` is a connected
 * node of tenant b, and `A0` is a control-plane node.
 */
function cell(text: string): CellNode[] {
  return text.split(' ').map((word, index) => ({
    id: `${word}#${index}` as NodeId,
    tenant: word.slice(0, 1).toLowerCase() as TenantId,
    controlPlane: word.slice(0, 1) !== word.slice(0, 1).toLowerCase(),
    silentSince: word.length === 1 ? undefined : Number(word.slice(1)) * 1_000,
  }))
}

const judge = (text: string, second: number, facts: Partial<MassFailureFacts> = {}) =>
  detectMassFailure({ nodes: cell(text), now: second * 1_000, ...NEVER, ...facts }, TIMES)
const failing = (text: string, second: number, facts: Partial<MassFailureFacts> = {}) =>
  [...judge(text, second, facts).mayFail].map((id) => id.split('#')[0]).join(' ')

describe('failure detection in a small cell', () => {
  test.each([
    ['one silent node, a moment too early', 'a0 a b', 119.999, ''],
    ['one silent node, in time', 'a0 a b', 120, 'a0'],
    ['two of five of two tenants', 'a0 b0 a b b', 120, 'a0 b0'],
    ['three of five of two tenants', 'a0 a0 b0 b b', 120, ''],
    ['three of five, a moment before the hold is over', 'a0 a0 b0 b b', 719.999, ''],
    ['three of five, when the hold is over', 'a0 a0 b0 b b', 720, 'a0 a0 b0'],
    ['three of five of one tenant where two exist', 'a0 a0 a0 b b', 120, 'a0 a0 a0'],
    ['three of five where one tenant exists', 'a0 a0 a0 a a', 120, ''],
    ['three of ten, which is not more than thirty percent', 'a0 a0 b0 a a a a a a a', 120, 'a0 a0 b0'],
    ['three of nine, which is more', 'a0 a0 b0 a a a a a a', 120, ''],
    ['three silent within a minute', 'a0 a30 b60 b b', 120, ''],
    ['three silent in just over a minute', 'a0 a30 b60.001 b b', 120, 'a0'],
    ['a node that fell silent before a mass failure, held too', 'a0 a90 a90 b90 b b', 130, ''],
    ['a node that fell silent before a mass failure, after its own hold', 'a0 a90 a90 b90 b b', 720, 'a0'],
    ['control-plane nodes, which do not make a mass failure', 'a0 b0 P0 P0 b b', 120, 'a0 b0 P0 P0'],
    ['control-plane nodes, which do not lower the share of silent nodes', 'a0 a0 b0 P P P P P P P', 120, ''],
    ['a control-plane node, held like the others', 'a0 a0 b0 P0 b', 120, ''],
    ['a tenant with control-plane nodes only, which is no second tenant', 'a0 a0 a0 P a', 120, ''],
  ])('%s: %s at %d s', (_what, text, second, expected) => {
    expect(failing(text, second)).toBe(expected)
  })
})

describe('after an outage of the control plane', () => {
  test('every node gets the full time again, however long it has been silent', () => {
    const back = { countedFrom: 300_000 }
    expect(failing('a0 a b', 419.999, back)).toBe('')
    expect(failing('a0 a b', 420, back)).toBe('a0')
  })

  test('a mass failure is held for its full time after that', () => {
    expect(failing('a0 a0 b0 b b', 900, { countedFrom: 300_000 })).toBe('')
    expect(failing('a0 a0 b0 b b', 1_020, { countedFrom: 300_000 })).toBe('a0 a0 b0')
  })
})

test('after some nodes of a mass failure return, the others get the same time to do so', () => {
  const { massSeenAt, holding } = judge('a0 a0 b0 b b', 300)
  expect([massSeenAt, holding]).toEqual([300_000, true])
  expect(failing('a a0 b0 b b', 419, { massSeenAt })).toBe('')
  expect(failing('a a0 b0 b b', 420, { massSeenAt })).toBe('a0 b0')
})

const aCell = fc
  .array(
    fc.record({
      tenant: fc.constantFrom('a', 'b', 'c'),
      controlPlane: fc.boolean(),
      silentSince: fc.option(fc.integer({ min: 0, max: 200_000 }), { nil: undefined }),
    }),
    { minLength: 1, maxLength: 12 },
  )
  .map((nodes) =>
    nodes.map((node, index) => ({
      ...node,
      id: `n${index}` as NodeId,
      tenant: node.tenant as TenantId,
    })),
  )
const aMoment = fc.integer({ min: 0, max: 1_000_000 })

/**
 * Whether nodes failed together, computed independently of the tested code: each node is tried as the first node of a
 * one-minute window.
 */
function fellSilentTogether(nodes: readonly CellNode[], now: number): boolean {
  const counting = nodes.filter(({ controlPlane }) => !controlPlane)
  const needed = Math.min(2, new Set(counting.map(({ tenant }) => tenant)).size)
  return counting.some(({ silentSince: from }) => {
    const group = counting.filter(
      ({ silentSince: at }) =>
        from !== undefined && at !== undefined && at >= from && at - from <= 60_000 && now < at + 720_000,
    )
    const tenants = new Set(group.map(({ tenant }) => tenant)).size
    return group.length >= 3 && tenants >= needed && group.length / counting.length > 0.3
  })
}

describe('over random cells', () => {
  const check = (holds: (nodes: CellNode[], now: number) => void) =>
    fc.assert(fc.property(aCell, aMoment, holds), { numRuns: 5_000, seed: 20_261_115 })
  const failed = (nodes: readonly CellNode[], now: number) =>
    detectMassFailure({ nodes, now, ...NEVER }, TIMES).mayFail

  test('no node fails early, every silent node fails in the end, and a mass failure delays it', () =>
    check((nodes, now) => {
      const may = failed(nodes, now)
      const many = fellSilentTogether(nodes, now)
      for (const { id, silentSince: since } of nodes) {
        if (since === undefined || now < since + 120_000) expect(may.has(id)).toBe(false)
        else if (now >= since + 720_000) expect(may.has(id)).toBe(true)
        else expect(may.has(id)).toBe(!many)
      }
    }))

  test('one more silent node never makes another one fail', () =>
    check((nodes, now) => {
      const before = failed(nodes, now)
      nodes.forEach((silenced, at) => {
        if (silenced.silentSince !== undefined) return
        const after = failed(nodes.with(at, { ...silenced, silentSince: now - 40_000 }), now)
        expect([...after].every((id) => before.has(id))).toBe(true)
      })
    }))

  test('control-plane nodes change nothing for the others', () =>
    check((nodes, now) => {
      const others = nodes.filter(({ controlPlane }) => !controlPlane)
      const ofOthers = [...failed(nodes, now)].filter((id) => others.some((node) => node.id === id))
      expect(ofOthers).toEqual([...failed(others, now)])
    }))
})

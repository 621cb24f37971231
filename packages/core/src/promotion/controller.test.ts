import { describe, expect, test } from 'vitest'
import {
  beginHandover,
  cancelHandover,
  growGroup,
  prepareNode,
  promoteGroup,
  readRecord,
  shrinkGroup,
} from './controller.ts'
import { record, vote } from './promotion.fixture.ts'

const shrink = { kind: 'shrink', from: 'a', epoch: 1, node: 'b' } as const
const grow = { kind: 'grow', from: 'a', epoch: 1, cv: 1, node: 'c' } as const
const HANDOVER = record({ cv: 2, handover: { to: 'b', cv: 2 } })

describe('a configuration', () => {
  test('shrinks with the next version, and the answer has the record', () => {
    const changed = record({ promotable: [], cv: 2 })
    expect(shrinkGroup(record(), shrink)).toEqual({
      record: changed,
      send: [{ kind: 'configured', to: 'a', record: changed }],
    })
  })

  test('grows only from the version that the primary knows', () => {
    expect(growGroup(record(), grow).record).toEqual(record({ promotable: ['b', 'c'], cv: 2 }))
    expect(growGroup(record({ cv: 2 }), grow).record).toEqual(record({ cv: 2 }))
  })

  test('changes neither for an earlier epoch nor during a handover', () => {
    for (const each of [record({ epoch: 2 }), HANDOVER]) {
      expect(shrinkGroup(each, shrink)).toEqual(readRecord(each, 'a'))
      expect(growGroup(each, { ...grow, cv: each.cv })).toEqual(readRecord(each, 'a'))
    }
  })
})

describe('a handover', () => {
  test('begins for a promotable node only, once', () => {
    expect(beginHandover(record(), 'b').record).toEqual(HANDOVER)
    expect(beginHandover(record(), 'c').record).toEqual(record())
    expect(beginHandover(HANDOVER, 'b').record).toBe(HANDOVER)
  })

  test('is canceled by a request that names it', () => {
    const cancel = { kind: 'cancel', from: 'a', epoch: 1, cv: 2 } as const
    expect(cancelHandover(HANDOVER, cancel).record).toEqual(record({ cv: 3 }))
    expect(cancelHandover(HANDOVER, { ...cancel, cv: 1 }).record).toBe(HANDOVER)
  })

  test('promotes the node that it names, without loss', () => {
    const released = vote({ cause: 'released', cv: 2 })
    expect(promoteGroup(HANDOVER, released)).toMatchObject({ record: { epoch: 2, primary: 'b' }, lossMs: 0 })
    expect(promoteGroup(record({ cv: 2 }), released)).toBeUndefined()
    expect(promoteGroup(HANDOVER, { ...released, from: 'c' })).toBeUndefined()
  })
})

describe('a promotion', () => {
  test('begins a new epoch without promotable nodes and states the loss', () => {
    expect(promoteGroup(record(), vote())).toEqual({
      record: { epoch: 2, primary: 'b', promotable: [], cv: 2, handover: undefined },
      checkpoint: vote().held,
      lossMs: 13_000,
    })
  })

  test.each([
    ['another epoch', record({ epoch: 2 })],
    ['another configuration version', record({ cv: 2 })],
    ['a node that is not promotable', record({ promotable: ['c'] })],
  ])('is refused for %s', (_, stored) => expect(promoteGroup(stored, vote())).toBeUndefined())

  test('of a node outside needs the word of the operator, and its loss has no bound', () => {
    const solo = record({ promotable: [] })
    expect(promoteGroup(solo, vote({ force: { primaryIsDead: false } }))).toBeUndefined()
    expect(promoteGroup(solo, vote({ force: { primaryIsDead: true } }))?.lossMs).toBeUndefined()
    expect(promoteGroup(solo, vote({ force: { primaryIsDead: true } }))?.record.primary).toBe('b')
  })

  test.each([
    ['the copy has restarted', vote({ lastWriteBy: undefined })],
    ['the primary has booted since the checkpoint', vote({ lastWriteBy: { boot: 2, ms: 17_000 } })],
  ])('states no loss if %s', (_, sent) => expect(promoteGroup(record(), sent)?.lossMs).toBeUndefined())

  test('asks only promotable nodes, unless it is forced', () => {
    const force = { primaryIsDead: true }
    expect(prepareNode(record(), 'c', undefined)).toBeUndefined()
    expect(prepareNode(record(), 'c', force)).toEqual({ kind: 'prepare', to: 'c', epoch: 1, cv: 1, force })
  })
})

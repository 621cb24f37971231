import { describe, expect, test } from 'vitest'
import { heldCheckpoint, onCopyConfigured, onPrepare, onRelease, onRenew, onShip } from './copy.ts'
import { checkpoint, copy, record, renew } from './promotion.fixture.ts'
import { PROMOTION_TIMINGS as TIMES } from './timings.ts'

const prepare = { kind: 'prepare', to: 'b', epoch: 1, cv: 1, force: undefined } as const
const release = { kind: 'release', to: 'b', epoch: 1, cv: 2, final: 1 } as const
const ship = (volume: string, number: number, epoch = 1) =>
  ({ kind: 'ship', from: 'a', to: 'b', volume, checkpoint: checkpoint(number, epoch) }) as const

describe('a promise', () => {
  test('is renewed and acknowledged with the stamp of the renewal', () => {
    const { state, send } = onRenew(copy(), renew(), 5_500, TIMES)
    expect(state.promisedUntilMs).toBe(23_500)
    expect(send).toEqual([
      { kind: 'ack', from: 'b', to: 'a', epoch: 1, sent: { boot: 1, ms: 5_000 }, start: 1 },
    ])
  })

  test.each([
    ['another epoch', copy(), renew({ epoch: 2 })],
    ['the version of its vote', copy({ prepared: true }), renew()],
    ['an earlier version than its vote', copy({ prepared: true, cv: 3 }), renew({ cv: 2 })],
  ])('is not renewed for %s', (_, state, sent) =>
    expect(onRenew(state, sent, 5_500, TIMES)).toEqual({ state, send: [] }),
  )

  test('is made again after a vote whose version has been replaced', () => {
    const { state, send } = onRenew(copy({ prepared: true }), renew({ cv: 2 }), 0, TIMES)
    expect(state.durable).toMatchObject({ cv: 2, prepared: false })
    expect(send).toHaveLength(1)
  })

  test('is assumed after a start', () => expect(copy().promisedUntilMs).toBe(TIMES.promiseMs))
})

describe('a vote', () => {
  const after = (sent: ReturnType<typeof renew>) => onRenew(copy(), sent, 0, TIMES).state

  test('waits until the promise has expired', () => {
    expect(onPrepare(copy(), prepare, 17_999, TIMES).send).toEqual([])
    const { state, send } = onPrepare(copy(), prepare, 18_000, TIMES)
    expect(state.durable.prepared).toBe(true)
    expect(send).toMatchObject([{ kind: 'vote', epoch: 1, cv: 1, cause: 'expired', held: { number: 1 } }])
  })

  test('never lowers the configuration version', () => {
    const state = copy({ cv: 2, prepared: true })
    expect(onPrepare(state, prepare, 18_000, TIMES)).toEqual({ state, send: [] })
    expect(onRelease(state, { ...release, cv: 1 }, 0, TIMES)).toEqual({ state, send: [] })
  })

  test('is immediate after a release, if the copy holds the final checkpoint', () => {
    expect(onRelease(copy(), release, 0, TIMES).send).toMatchObject([{ cause: 'released', cv: 2 }])
    expect(onRelease(copy(), { ...release, final: 2 }, 0, TIMES).send).toEqual([])
  })

  test('states the last possible write once a renewal names this start', () => {
    const [known, unknown] = [after(renew()), after(renew({ start: undefined }))]
    expect(onPrepare(known, prepare, 18_000, TIMES).send).toMatchObject([
      { lastWriteBy: { boot: 1, ms: 17_000 } },
    ])
    expect(onPrepare(unknown, prepare, 18_000, TIMES).send).toMatchObject([{ lastWriteBy: undefined }])
  })

  test('is withdrawn when the record has moved on', () => {
    const prepared = copy({ prepared: true })
    expect(onCopyConfigured(prepared, record())).toBe(prepared)
    expect(onCopyConfigured(prepared, record({ cv: 2 })).durable.prepared).toBe(false)
  })
})

describe('a checkpoint', () => {
  test('is acknowledged when every volume holds it', () => {
    const first = onShip(copy(), ship('data', 2), 0, TIMES)
    expect(first.send).toEqual([])
    expect(heldCheckpoint(first.state)).toEqual(checkpoint(1))
    const second = onShip(first.state, ship('wal', 2), 0, TIMES)
    expect(second.send).toEqual([{ kind: 'stored', from: 'b', to: 'a', checkpoint: checkpoint(2) }])
    expect(heldCheckpoint(second.state)).toEqual(checkpoint(2))
  })

  test('of an earlier epoch is refused', () => {
    const state = copy({ epoch: 2, held: [checkpoint(1, 2), checkpoint(1, 2)] })
    expect(onShip(state, ship('data', 2), 0, TIMES)).toEqual({ state, send: [] })
  })

  test('is refused after a vote, which names the held one', () => {
    const state = copy({ prepared: true })
    expect(onShip(state, ship('data', 2), 0, TIMES)).toEqual({ state, send: [] })
  })

  test('of a newer epoch ends the vote and the stamps of the old one', () => {
    const { state } = onShip(copy({ prepared: true }), ship('data', 1, 2), 0, TIMES)
    expect(state).toMatchObject({
      durable: { epoch: 2, prepared: false },
      lastAcked: undefined,
      bounded: false,
    })
  })

  test('that misses a volume is none', () =>
    expect(heldCheckpoint(copy({ held: [undefined, checkpoint(1)] }))).toBeUndefined())
})

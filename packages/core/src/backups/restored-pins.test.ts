import { describe, expect, test } from 'vitest'
import { anchoredVersions, withAnchoredPins } from './restored-pins.ts'

const VOLUME = 'volume(vol_01JCPZ0000000000000000000A)'
const entry = (label: string, anchor = 'external') => ({
  name: label.toUpperCase(),
  vault_path: `resources/${label}`,
  anchor,
  rotation: 'restart',
})
const NOTHING = { secrets: [], pins: {} }

describe('anchoredVersions', () => {
  const secrets = [entry('db', VOLUME), entry('first', VOLUME), entry('none', VOLUME), entry('free')]

  test('contains the pin or else the initial version of anchored labels only', () => {
    const initials: { [label: string]: number } = { db: 1, first: 1, free: 1 }
    const versions = anchoredVersions(
      { secrets, pins: { db: 3, free: 2 } },
      (label) => initials[label] ?? null,
    )
    expect(versions).toEqual({ db: 3, first: 1 })
  })

  test('accepts labels named like object properties', () => {
    const odd = [entry('constructor', VOLUME)]
    expect(anchoredVersions({ secrets: odd, pins: {} }, () => 4)).toEqual({ constructor: 4 })
  })
})

describe('withAnchoredPins', () => {
  const backup = { secrets: [entry('db', VOLUME), entry('free')], pins: { db: 2 } }
  const listed = () => true

  test('keeps the version of an anchored entry after its deployment was deleted', () => {
    expect(withAnchoredPins(NOTHING, backup, listed)).toEqual({
      secrets: [entry('db', VOLUME)],
      pins: { db: 2 },
    })
  })

  test('prefers the pin of the current deployment, and its lack of one', () => {
    const current = { secrets: [entry('db', VOLUME)], pins: { db: 5 } }
    expect(withAnchoredPins(current, backup, listed)).toEqual(current)
    const unpinned = { ...current, pins: {} }
    expect(withAnchoredPins(unpinned, backup, listed)).toEqual(unpinned)
  })

  test('drops a version that no longer exists', () => {
    expect(withAnchoredPins(NOTHING, backup, () => false)).toEqual(NOTHING)
  })
})

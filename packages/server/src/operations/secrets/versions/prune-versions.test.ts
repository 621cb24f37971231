import { consumerOf } from '@holdfast/contract'
import { describe, expect, test } from 'vitest'
import type { StoredCredential } from '../../../store/records.ts'
import { checkVersionRoom, newestUnstaged, unneededVersions, VERSIONS_KEPT } from './prune-versions.ts'

type Rotation = NonNullable<StoredCredential['rotation']>

const credential = (numbers: readonly number[], rotation?: Pick<Rotation, 'old' | 'new'>) => ({
  versions: numbers.map((version) => ({ version, keys: [], createdAt: '' })),
  ...(rotation === undefined
    ? {}
    : {
        rotation: {
          ...rotation,
          phase: 'stage' as const,
          since: '',
          startedBy: consumerOf('deployment', 'web'),
        },
      }),
})
const uses = (...numbers: readonly number[]) =>
  new Map(numbers.map((version) => [version, [`user-${version}`]]))

describe('versions of a credential that may be destroyed', () => {
  test.each<
    [numbers: number[], rotation: Pick<Rotation, 'old' | 'new'> | undefined, used: number[], gone: number[]]
  >([
    [[], undefined, [], []],
    [[1], undefined, [], []],
    [[1, 2, 3], undefined, [], [1, 2]],
    [[1, 2, 3], undefined, [1], [2]],
    [[1, 2, 3], { old: 2, new: 3 }, [], [1]],
    // Pruning keeps the newest version that is not part of a rotation, and both versions of the rotation.
    [[1, 2, 3, 4], { old: 1, new: 4 }, [], [2]],
    [[1, 2, 3, 4], { old: 1, new: 2 }, [], [3]],
  ])('of %j with rotation %j and %j in use are %j', (numbers, rotation, used, gone) => {
    expect(unneededVersions(credential(numbers, rotation), uses(...used))).toEqual(gone)
  })

  test('never include a version that a rotation has staged as the newest', () => {
    expect(newestUnstaged(credential([1, 2], { old: 1, new: 2 }))).toBe(1)
    expect(newestUnstaged(credential([2], { old: 1, new: 2 }))).toBeUndefined()
  })
})

describe('room for one more version of a credential', () => {
  test.each<[numbers: number[], used: number[], code: string | undefined]>([
    [[], [], undefined],
    [[1, 899], [1], undefined],
    [[1, 900], [1], 'secret_in_use'],
    [[1, 900], [900], undefined],
    [[1, 900], [], undefined],
  ])('with versions %j and %j in use: %s', (numbers, used, code) => {
    expect(checkVersionRoom(credential(numbers), uses(...used))?.code).toBe(code)
  })

  test('is rejected when too many versions are in use to be deleted at once', () => {
    const numbers = Array.from({ length: VERSIONS_KEPT }, (_, index) => index + 1)
    const refused = checkVersionRoom(credential(numbers), uses(...numbers))
    expect(refused).toMatchObject({ code: 'secret_in_use', field: 'values', received: 'version 1 in use' })
    expect(refused?.why).toContain('user-1,')
    expect(checkVersionRoom(credential(numbers), uses(...numbers.slice(1)))).toBeUndefined()
  })
})

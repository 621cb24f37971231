import { describe, expect, test } from 'vitest'
import { planPatch, warnOfDroppedKeys } from './plan-write.ts'

const version = (number: number, keys: string[], bytes?: number) => ({ version: number, keys, bytes })

describe('a write that leaves out keys', () => {
  test('is warned of with each key and the version that has it', () => {
    const [warning] = warnOfDroppedKeys(version(2, ['user', 'password', 'host']), ['user'], 'values')
    expect(warning).toMatchObject({ code: 'secret_keys_dropped', field: 'values' })
    expect(warning?.why).toContain('The keys password, host of version 2 are not sent')
  })
  test.each<[string, ReturnType<typeof version> | undefined, string[]]>([
    ['the first version', undefined, ['a']],
    ['the same keys in another order', version(1, ['a', 'b']), ['b', 'a']],
    ['more keys', version(1, ['a']), ['a', 'b']],
  ])('is not warned of for %s', (_what, before, keys) => {
    expect(warnOfDroppedKeys(before, keys, 'values')).toEqual([])
  })
})

describe('a patch', () => {
  const versions = [version(1, ['a'], 1024), version(2, ['a', 'b'], 2048), version(4, ['c'], 1024)]
  const sent = { keys: ['b', 'd'], bytes: 1024 }
  const plan = (staged: number | undefined, newest: number, max = 1 << 19) =>
    planPatch({ versions, staged }, newest, sent, max)

  test('keeps the keys of the newest version, adds its own and adds up their sizes', () => {
    expect(plan(undefined, 4)).toEqual({ kind: 'ok', base: 4, keys: ['c', 'b', 'd'], bytes: 2048 })
    expect(planPatch({ versions: [version(1, ['x'])], staged: undefined }, 1, sent, 1024)).toMatchObject({
      bytes: 1024,
    })
  })
  test.each<[string, number | undefined, number, string]>([
    ['a rotation has staged the newest version', 4, 4, 'a rotation has staged it'],
    ['the newest version in the store is not listed', undefined, 5, 'destroyed before any use'],
  ])('is refused if %s', (_what, staged, newest, why) => {
    const planned = plan(staged, newest)
    if (planned.kind === 'ok') throw new Error('accepted')
    expect(planned.rejection).toMatchObject({ code: 'secret_patch_base_missing', field: 'values' })
    expect(planned.rejection.why).toContain(why)
  })
  test('of a path without a version is refused', () => {
    expect(planPatch({ versions: [], staged: undefined }, 0, sent, 1024)).toMatchObject({
      rejection: { code: 'secret_not_found', field: 'resource' },
    })
  })
  test('is refused if the document could exceed the limit', () => {
    expect(plan(undefined, 4, 2048).kind).toBe('ok')
    expect(plan(undefined, 4, 2047)).toMatchObject({
      rejection: { code: 'secret_value_too_long', field: 'values' },
    })
  })
})

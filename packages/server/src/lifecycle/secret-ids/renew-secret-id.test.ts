import { writeFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { secret } from '../../ports/secret.ts'
import { checkSecretId } from './renew-secret-id.ts'
import { DAY_MS, openSecretIdWorld } from './secret-id-world.fixture.ts'

describe('a secret id of 90 days', () => {
  test('stays during the first half of its lifetime', async () => {
    const world = openSecretIdWorld()
    world.atDay(44)
    expect(await checkSecretId(world.deps)).toEqual({
      kind: 'valid',
      expiresAtMs: 90 * DAY_MS,
      isOwn: true,
    })
    expect(world.valid()).toEqual(['first'])
  })

  test('is replaced in the file and in use, and destroyed', async () => {
    const world = openSecretIdWorld()
    world.atDay(45)
    expect(await checkSecretId(world.deps)).toMatchObject({ kind: 'renewed', expiresAtMs: 135 * DAY_MS })
    expect([world.inFile(), world.inUse(), world.valid()]).toEqual(['issued-1', 'issued-1', ['issued-1']])
    expect(world.file.readPrevious()).toBeUndefined()
  })

  test('logs in for a year by renewing itself', async () => {
    const world = openSecretIdWorld()
    for (let day = 0; day <= 365; day += 1) {
      world.atDay(day)
      expect((await checkSecretId(world.deps)).kind).not.toBe('failed')
    }
    expect(world.valid()).toHaveLength(1)
  })

  test('is not destroyed if an operator may have given it to other processes', async () => {
    const world = openSecretIdWorld(90, 'operator')
    world.atDay(45)
    expect(await checkSecretId(world.deps)).toMatchObject({ kind: 'renewed' })
    expect(world.valid()).toEqual(['first', 'issued-1'])
    expect(world.file.readPrevious()).toBeUndefined()
  })
})

test('a lost answer to the issue changes neither the file nor the secret id in use, and the next check renews', async () => {
  const world = openSecretIdWorld()
  world.atDay(45)
  world.lost.add('issue')
  expect(await checkSecretId(world.deps)).toEqual({ kind: 'failed', step: 'issue', why: 'timeout' })
  expect([world.inFile(), world.inUse()]).toEqual(['first', 'first'])
  world.lost.clear()
  expect(await checkSecretId(world.deps)).toMatchObject({ kind: 'renewed' })
  expect(world.valid()).not.toContain('first')
})

test('a previous secret id whose destruction has an unknown outcome is settled at the next check', async () => {
  const world = openSecretIdWorld()
  world.atDay(45)
  world.lost.add('destroy')
  expect(await checkSecretId(world.deps)).toMatchObject({ kind: 'renewed' })
  expect(world.file.readPrevious()?.reveal()).toBe('first')
  world.lost.clear()
  expect(await checkSecretId(world.deps)).toMatchObject({ kind: 'valid' })
  expect([world.file.readPrevious(), world.valid()]).toEqual([undefined, ['issued-1']])
})

test('after a crash before the file was replaced, the secret id in use stays valid', async () => {
  const world = openSecretIdWorld()
  writeFileSync(`${world.path}.previous`, 'first\n')
  world.restart()
  expect(await checkSecretId(world.deps)).toMatchObject({ kind: 'valid' })
  expect([world.valid(), world.file.readPrevious()]).toEqual([['first'], undefined])
})

test('after a crash before the destruction, the next start destroys the previous secret id', async () => {
  const world = openSecretIdWorld()
  world.atDay(45)
  const issued = await world.deps.loggedIn(secret('first'), (calls) => calls.issue())
  if (issued.kind === 'issued') world.file.replace(secret('first'), issued.secretId)
  world.restart()
  expect(await checkSecretId(world.deps)).toMatchObject({ kind: 'valid' })
  expect(world.valid()).toEqual(['issued-1'])
})

test('a secret id that an operator put into the file is not overwritten', async () => {
  const world = openSecretIdWorld()
  world.atDay(45)
  writeFileSync(world.path, 'by hand\n')
  expect(await checkSecretId(world.deps)).toMatchObject({ kind: 'failed', step: 'comparison' })
  expect([world.inFile(), world.valid()]).toEqual(['by hand', ['first']])
})

test.each([
  ['a file that this process cannot replace', true],
  ['no file', false],
])('with %s nothing is issued, and the expiry is known', async (_, hasFile) => {
  const world = openSecretIdWorld()
  world.atDay(80)
  const file = hasFile ? { ...world.file, isReplaceable: () => false } : undefined
  expect(await checkSecretId({ ...world.deps, file })).toEqual({
    kind: 'valid',
    expiresAtMs: 90 * DAY_MS,
    isOwn: false,
  })
  expect(world.valid()).toEqual(['first'])
})

test('a secret id that never expires is not renewed', async () => {
  const world = openSecretIdWorld('unlimited')
  world.atDay(1000)
  expect(await checkSecretId(world.deps)).toEqual({ kind: 'valid', expiresAtMs: undefined, isOwn: true })
  expect(world.valid()).toEqual(['first'])
})

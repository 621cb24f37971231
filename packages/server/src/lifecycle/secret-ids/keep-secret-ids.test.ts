import { expect, test } from 'vitest'
import { createSecretIdKeeper } from './keep-secret-ids.ts'
import { DAY_MS, openSecretIdWorld } from './secret-id-world.fixture.ts'

function openKeeper(world: ReturnType<typeof openSecretIdWorld>, isReplaceable: boolean) {
  const lines: string[] = []
  const write = (level: string) => (_: object, text: string) => void lines.push(`${level} ${text}`)
  const log = { info: write('info'), warn: write('warn'), error: write('error') }
  const file = { ...world.file, isReplaceable: () => isReplaceable }
  return { lines, ...createSecretIdKeeper([{ ...world.deps, file }], log) }
}

test('a read-only file raises alarms 30, 14 and 7 days before the end, each once', async () => {
  const world = openSecretIdWorld()
  const { lines, check, expiries } = openKeeper(world, false)
  const raised: string[] = []
  for (let day = 0; day < 90; day += 1) {
    world.atDay(day)
    await check()
    await check()
    for (const line of lines.splice(0)) raised.push(`${90 - day} days: ${line}`)
  }
  expect(raised).toEqual([
    '90 days: info secret id is not renewed by this process, its file is read-only',
    '29 days: warn secret id expires soon, renew it by hand',
    '13 days: warn secret id expires soon, renew it by hand',
    '6 days: error secret id expires soon, renew it by hand',
  ])
  expect([...expiries()]).toEqual([['api', (90 * DAY_MS) / 1000]])
})

test('a process that renews its secret id raises no alarm, and publishes the new expiry', async () => {
  const world = openSecretIdWorld()
  const { lines, check, expiries } = openKeeper(world, true)
  for (let day = 0; day <= 60; day += 1) {
    world.atDay(day)
    await check()
  }
  expect(lines).toEqual(['info secret id renewed'])
  expect([...expiries()]).toEqual([['api', (135 * DAY_MS) / 1000]])
})

test('a secret id that never expires is logged once, and has no expiry', async () => {
  const { lines, check, expiries } = openKeeper(openSecretIdWorld('unlimited'), true)
  await check()
  await check()
  expect(lines).toEqual(['warn secret id never expires, replace it: docs/guides/configuration.md'])
  expect([...expiries()]).toEqual([])
})

test('a failed check keeps the known expiry and is logged', async () => {
  const world = openSecretIdWorld()
  const { lines, check, expiries } = openKeeper(world, true)
  await check()
  world.lost.add('lookUp')
  await check()
  expect(lines).toEqual(['warn secret id not checked or not renewed, retrying; see the doctor'])
  expect(expiries().size).toBe(1)
})

test('a renewal that keeps failing is logged again at 30, 14 and 7 days, and is then an error', async () => {
  const world = openSecretIdWorld()
  const { lines, check } = openKeeper(world, true)
  await check()
  world.lost.add('issue')
  for (let day = 44; day < 90; day += 1) {
    world.atDay(day)
    await check()
  }
  const text = 'secret id not checked or not renewed, retrying; see the doctor'
  expect(lines).toEqual([`warn ${text}`, `warn ${text}`, `warn ${text}`, `error ${text}`])
})

test('a lifetime below 30 days raises no alarm while it is renewed', async () => {
  const world = openSecretIdWorld(20)
  const { lines, check } = openKeeper(world, true)
  for (let day = 0; day < 10; day += 1) {
    world.atDay(day)
    await check()
  }
  expect(lines).toEqual([])
})

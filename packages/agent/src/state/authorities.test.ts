// Announced roots: the node keeps them on its disk, trusts them beside its pin, and states them only once they are saved.

import { hash, X509Certificate } from 'node:crypto'
import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { asNodeId, MAX_AUTHORITIES } from '@holdfast/contract'
import { LOCAL_NAMES, makeCertificateChains, makeTempFolder, waitUntil } from '@holdfast/testkit'
import { pino } from 'pino'
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest'
import { type Authorities, openAuthorities } from './authorities.ts'

const chains = makeCertificateChains()
const pem = (name: string): string => new X509Certificate(chains.pem(`${name}.crt`)).toString()
const pin = (name: string): string => `sha256:${hash('sha256', new X509Certificate(pem(name)).raw, 'hex')}`
const NODE = asNodeId('node_01JCPZ0000000000000000000A')
const log = pino({ enabled: false })
let folder: string
let learned: number

beforeAll(() => {
  for (const root of ['pinned', 'next', 'later']) chains.selfSign(root)
  for (let number = 0; number < MAX_AUTHORITIES; number += 1) chains.selfSign(`root-${number}`)
  chains.sign('middle', 'next', LOCAL_NAMES)
})
afterAll(chains.remove)
beforeEach(() => {
  folder = makeTempFolder('authorities').path
  learned = 0
})

const OWNER = { nodeId: NODE, generation: 1, server: 'https://hf.example' }
async function open({ ca = pem('pinned'), server = OWNER.server } = {}): Promise<Authorities> {
  return openWith({ ...OWNER, ca, server })
}

async function openWith(owner: Parameters<typeof openAuthorities>[1]): Promise<Authorities> {
  const authorities = await openAuthorities(folder, owner, log, () => {
    learned += 1
  })
  onTestFinished(() => authorities.close())
  return authorities
}

const untilLearned = (times = 1): Promise<unknown> =>
  waitUntil(() => learned >= times, { what: 'the announced roots are saved' })

test('trusts the pinned root alone until the server announces another one', async () => {
  const authorities = await open()
  expect(authorities.trusted()).toEqual([pem('pinned')])
  expect(authorities.pins()).toEqual([pin('pinned')])
  expect(authorities.trusted()).toBe(authorities.trusted())
})

test('keeps an announced root beside the pinned one, also after a restart', async () => {
  const authorities = await open()
  authorities.learn([pem('next')])
  await untilLearned()
  expect(authorities.trusted()).toEqual([pem('pinned'), pem('next')])
  expect(authorities.pins()).toEqual([pin('pinned'), pin('next')])
  const again = await open()
  expect(again.trusted()).toEqual([pem('pinned'), pem('next')])
  expect(again.pins()).toEqual([pin('pinned'), pin('next')])
})

test('confirms known roots again at each announcement, because a confirmation may be lost', async () => {
  const authorities = await open()
  authorities.learn([pem('next')])
  await untilLearned()
  authorities.learn([pem('next')])
  expect(learned).toBe(2)
})

test('states no root that is not on its disk', async () => {
  const authorities = await openAuthorities(
    '/proc/no-such-folder',
    { ...OWNER, ca: pem('pinned') },
    log,
    () => {
      learned += 1
    },
  )
  onTestFinished(() => authorities.close())
  authorities.learn([pem('next')])
  await new Promise((resolve) => setImmediate(resolve))
  expect(authorities.pins()).toEqual([pin('pinned')])
  expect(learned).toBe(0)
})

test('keeps the root of an earlier announcement, because the server may use it now', async () => {
  const authorities = await open()
  authorities.learn([pem('next')])
  authorities.learn([pem('later')])
  await untilLearned()
  expect(authorities.trusted()).toEqual([pem('pinned'), pem('next'), pem('later')])
})

test('drops the oldest root beyond the bound, and never the pinned one', async () => {
  const authorities = await open()
  for (let number = 0; number < MAX_AUTHORITIES; number += 1) authorities.learn([pem(`root-${number}`)])
  const trusted = authorities.trusted() ?? []
  expect(trusted).toHaveLength(MAX_AUTHORITIES)
  expect(trusted[0]).toBe(pem('pinned'))
  expect(trusted).not.toContain(pem('root-0'))
  expect(trusted.at(-1)).toBe(pem(`root-${MAX_AUTHORITIES - 1}`))
})

test('keeps trusting the authorities of its machine if it has no pin', async () => {
  const authorities = await openWith(OWNER)
  expect(authorities.trusted()).toBe(undefined)
  authorities.learn([pem('next')])
  await untilLearned()
  expect(authorities.trusted()?.length).toBeGreaterThan(10)
  expect(authorities.pins()).toEqual([pin('next')])
})

test.each([
  ['an intermediate certificate', () => [pem('middle')], {}],
  ['a text that is no certificate', () => ['no certificate'], {}],
  ['anything over a connection without TLS', () => [pem('next')], { server: 'http://hf.example' }],
])('learns nothing from %s', async (_, announced, owner) => {
  const authorities = await open(owner)
  authorities.learn(announced())
  expect(authorities.trusted()).toEqual([pem('pinned')])
  expect(learned).toBe(0)
})

test.each([
  ['of another enrollment', (text: string) => text.replace('"generation": 1', '"generation": 2')],
  ['that is damaged', () => '{"v": 1, "roots'],
])('ignores a file %s', async (_, damage) => {
  const authorities = await open()
  authorities.learn([pem('next')])
  await untilLearned()
  const path = join(folder, 'authorities.json')
  const text = readFileSync(path, 'utf8').replace(/"generation":1/, '"generation": 1')
  chmodSync(path, 0o600)
  writeFileSync(path, damage(text))
  expect((await open()).trusted()).toEqual([pem('pinned')])
})

// A sign-in ends with its token, after twelve hours, after an hour without a request, and when it is closed.

import type { TenantId, TokenId } from '@holdfast/contract'
import { createMemoryKeyspace } from '@holdfast/simulation/memory/keyspace'
import {
  openOver,
  putTenant,
  clock as startClock,
  write,
} from '@holdfast/simulation/memory/store-over-memory.fixture'
import { afterEach, expect, test } from 'vitest'
import { createAuthenticate } from '../../api/request/authenticate.ts'
import { SIGN_IN_COOKIE } from '../../api/sign-in/cookie.ts'
import { someTenant } from '../../store/records.fixture.ts'
import { signIns, tokens } from '../../store/records.ts'
import type { Store } from '../../store/store.ts'
import { globally } from '../../store/transaction.ts'
import { realIds as ids } from '../../system-clock.ts'
import { mintToken } from '../tenants/tokens.ts'
import { closeSignIn, openSignIn, SIGN_INS_PER_TOKEN } from './sign-in.ts'
import { createUseNotes, sweepSignIns } from './sign-in-record.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
let store: Store | undefined
afterEach(() => store?.close())

interface World {
  readonly store: Store
  readonly token: TokenId
  pass(ms: number): void
  signIn(): Promise<string>
  /** Whether a browser with this cookie is known, after its use was noted. */
  isKnown(cookie: string, fetchSite?: string): Promise<boolean>
  use(cookie: string): Promise<void>
  signOut(cookie: string): Promise<boolean>
  sweep(): Promise<number>
}

async function openWorld({ tokenHours = 240 } = {}): Promise<World> {
  const opened = await openOver(createMemoryKeyspace())
  store = opened
  let now = startClock.now()
  const clock = { now: () => now }
  const tenant: TenantId = someTenant()
  const expiresAt = new Date(now + tokenHours * HOUR).toISOString()
  const { record, text } = mintToken(ids, new Date(now).toISOString(), tenant, {
    name: 'mine',
    role: 'developer',
    expiresAt,
  })
  await write(opened, (transaction) => {
    putTenant(transaction, tenant)
    transaction.put(globally(tokens, record.id), record)
  })
  await opened.fresh()
  const caller = { tenant, token: record.id, role: record.role, onBehalf: false, requestId: 'r' }
  const authenticate = createAuthenticate(opened, clock)
  const deps = {
    store: opened,
    clock,
    ids,
    findCaller: async (sent: string) => (sent === text ? caller : undefined),
  }
  const find = async (cookie: string, fetchSite = 'same-origin') => {
    const found = await authenticate({ cookie: `${SIGN_IN_COOKIE}=${cookie}`, fetchSite })
    return 'code' in found ? undefined : found.signIn
  }
  const failures: unknown[] = []
  const note = createUseNotes({ store: opened, clock }, (error) => failures.push(error))
  return {
    store: opened,
    token: record.id,
    pass: (ms) => {
      now += ms
    },
    async signIn() {
      const outcome = await openSignIn(deps, { token: text }, 'r')
      if (!outcome.ok) throw new Error(outcome.rejections[0]?.code)
      expect(JSON.stringify(outcome.value.shown)).not.toContain(outcome.value.secret)
      await opened.fresh()
      return outcome.value.secret
    },
    isKnown: async (cookie, site) => (await find(cookie, site)) !== undefined,
    async use(cookie) {
      const signIn = await find(cookie)
      if (signIn !== undefined) note(signIn)
      const noted = () => opened.get(globally(signIns, signIn ?? ''))?.record.usedAt
      await expect.poll(noted).toBe(new Date(now).toISOString())
      expect(failures).toEqual([])
    },
    async signOut(cookie) {
      const signIn = await find(cookie)
      const outcome = await closeSignIn(deps, signIn === undefined ? caller : { ...caller, signIn })
      await opened.fresh()
      return outcome.ok
    },
    async sweep() {
      await sweepSignIns({ store: opened, clock })
      await opened.fresh()
      return opened.listWithIds(signIns).length
    },
  }
}

test('the cookie is valid only with requests of pages of the same origin', async () => {
  const world = await openWorld()
  const cookie = await world.signIn()
  expect(await world.isKnown(cookie)).toBe(true)
  for (const site of ['same-site', 'cross-site', 'none', '', 'same-origin, same-origin'])
    expect(await world.isKnown(cookie, site)).toBe(false)
  expect(await world.isKnown(`${cookie.slice(0, -1)}_`)).toBe(false)
  expect(await world.isKnown('')).toBe(false)
})

test('the store has no cookie, only its hash', async () => {
  const world = await openWorld()
  const cookie = await world.signIn()
  expect(JSON.stringify(world.store.listWithIds(signIns))).not.toContain(cookie)
})

test('a sign-in ends after an hour without a request, and a request keeps it', async () => {
  const world = await openWorld()
  const cookie = await world.signIn()
  world.pass(HOUR - MINUTE)
  await world.use(cookie)
  world.pass(HOUR - MINUTE)
  expect(await world.isKnown(cookie)).toBe(true)
  world.pass(MINUTE)
  expect(await world.isKnown(cookie)).toBe(false)
  expect(await world.sweep()).toBe(0)
})

test('a sign-in ends after twelve hours however often it is used', async () => {
  const world = await openWorld()
  const cookie = await world.signIn()
  for (let hour = 0; hour < 12; hour += 0.5) {
    expect(await world.isKnown(cookie)).toBe(true)
    world.pass(HOUR / 2)
    if (hour < 11.5) await world.use(cookie)
  }
  expect(await world.isKnown(cookie)).toBe(false)
})

test('a sign-in ends when its token expires or is revoked', async () => {
  const expiring = await openWorld({ tokenHours: 0.5 })
  const first = await expiring.signIn()
  expiring.pass(HOUR / 2)
  expect(await expiring.isKnown(first)).toBe(false)
  expiring.store.close()
  const world = await openWorld()
  const cookie = await world.signIn()
  await write(world.store, (transaction) => transaction.delete(globally(tokens, world.token)))
  await world.store.fresh()
  expect(await world.isKnown(cookie)).toBe(false)
  expect(await world.sweep()).toBe(0)
})

test('signing out ends one sign-in and no other', async () => {
  const world = await openWorld()
  const [mine, other] = [await world.signIn(), await world.signIn()]
  expect(await world.signOut(mine)).toBe(true)
  expect([await world.isKnown(mine), await world.isKnown(other)]).toEqual([false, true])
  expect(await world.signOut(mine)).toBe(false)
})

test('a token has a limited number of sign-ins, of which the oldest ends first', async () => {
  const world = await openWorld()
  const cookies: string[] = []
  for (let at = 0; at <= SIGN_INS_PER_TOKEN; at += 1) {
    cookies.push(await world.signIn())
    world.pass(1)
  }
  expect(world.store.listWithIds(signIns)).toHaveLength(SIGN_INS_PER_TOKEN)
  expect([await world.isKnown(cookies[0] ?? ''), await world.isKnown(cookies[1] ?? '')]).toEqual([
    false,
    true,
  ])
})

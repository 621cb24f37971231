import { expect, test } from 'vitest'
import { createRateLimit, type Rates } from './rate-limit.ts'

const RATES: Rates = { requestsPerMinute: 60, burst: 4, tenantMultiple: 2 }

function aLimit() {
  const clock = { now: () => at }
  let at = 0
  const limit = createRateLimit(RATES, clock)
  return {
    limit,
    pass: (ms: number) => (at += ms),
    often: (times: number, ask: () => number) => Array.from({ length: times }, ask),
  }
}

test('a token has its burst and then its rate', () => {
  const { limit, pass, often } = aLimit()
  expect(often(5, () => limit.admit('one', 'acme'))).toEqual([0, 0, 0, 0, 1])
  pass(1_000)
  expect(often(2, () => limit.admit('one', 'acme'))).toEqual([0, 1])
})

test('many tokens of a tenant share the rate of the tenant, and other tenants keep theirs', () => {
  const { limit, pass, often } = aLimit()
  let next = 0
  const fromNewToken = (tenant: string) => () => {
    next += 1
    return limit.admit(`token-${next}`, tenant)
  }
  expect(often(9, fromNewToken('acme'))).toEqual([0, 0, 0, 0, 0, 0, 0, 0, 1])
  expect(often(2, fromNewToken('other'))).toEqual([0, 0])
  pass(1_000)
  expect(often(3, fromNewToken('acme'))).toEqual([0, 0, 1])
})

test('a request that is rejected for its token uses nothing of the tenant', () => {
  const { limit, often } = aLimit()
  often(100, () => limit.admit('one', 'acme'))
  expect(often(5, () => limit.admit('two', 'acme'))).toEqual([0, 0, 0, 0, 1])
})

test('a charged request delays later ones, whatever it costs', () => {
  const { limit, pass, often } = aLimit()
  expect(limit.admit('one', 'acme')).toBe(0)
  limit.charge('one', 'acme', 5)
  expect(limit.admit('one', 'acme')).toBe(3)
  expect(often(3, () => limit.admit('two', 'acme'))).toEqual([0, 0, 1])
  pass(3_000)
  expect(often(2, () => limit.admit('one', 'acme'))).toEqual([0, 1])
})

import type { LookupAddress } from 'node:dns'
import { expect, test } from 'vitest'
import { randomAddresses } from './random-addresses.ts'

const ADDRESSES: LookupAddress[] = ['10.0.0.1', '10.0.0.2', '10.0.0.3'].map((address) => ({
  address,
  family: 4,
}))

function looked(all: boolean, random: () => number, addresses = ADDRESSES) {
  let found: unknown
  const lookup = randomAddresses((_host, _options, done) => done(null, addresses), random)
  lookup('holdfast.example.com', { all }, (error, address) => {
    found = error ?? address
  })
  return found
}

test('a socket gets every address, in another order each time', () => {
  const orders = [0.9, 0.5, 0.1]
  expect(looked(true, () => orders.shift() ?? 0)).toEqual([...ADDRESSES].reverse())
})

test('a socket that takes one address gets a random one', () => {
  const seen = new Set(Array.from({ length: 100 }, () => looked(false, Math.random)))
  expect([...seen].sort()).toEqual(['10.0.0.1', '10.0.0.2', '10.0.0.3'])
})

test('an error of the resolver reaches the socket', () => {
  const fault = new Error('no such host')
  let found: unknown
  randomAddresses((_host, _options, done) => done(fault, []))('x', { all: true }, (error) => {
    found = error
  })
  expect(found).toBe(fault)
})

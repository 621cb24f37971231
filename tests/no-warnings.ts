// Setup of every test file. A test fails if Node prints a warning during it: a timer in the past or a leaked listener is
// a product bug that users would see on stderr. A file fails if it leaves replaced timers or clocks to the next file of its
// process. Also records, for CI, the CPU seconds of each file and the event types, alterations, warnings and filters that its
// tests received.

import { appendFileSync } from 'node:fs'
import process from 'node:process'
import { drainReceived, RECEIVED_FILE } from '@holdfast/testkit/received/received-values'
import { afterAll, afterEach, beforeAll, expect } from 'vitest'

const PRODUCT_FAULT = /^(Timeout|MaxListeners)/
const LEDGER = process.env['CI_FILE_LEDGER']
const warnings: string[] = []
const cpuBefore = process.cpuUsage()
const globalsBefore = shared()

/** The globals that fake timers and simulations replace. */
function shared() {
  const { setTimeout, setInterval, setImmediate, clearTimeout, clearInterval, clearImmediate } = globalThis
  const timers = { setTimeout, setInterval, setImmediate, clearTimeout, clearInterval, clearImmediate }
  return { ...timers, Date, dateNow: Date.now, performanceNow: performance.now, random: Math.random }
}

function record(warning: Error): void {
  if (PRODUCT_FAULT.test(warning.name)) warnings.push(warning.stack ?? warning.message)
}

// The listener is registered for each test file, because one process may run many files.
beforeAll(() => void process.on('warning', record))
afterAll(() => {
  process.off('warning', record)
  const { testPath } = expect.getState()
  const received = drainReceived().map(({ vocabulary, value }) => `${vocabulary}\t${value}\t${testPath}\n`)
  if (RECEIVED_FILE !== undefined) appendFileSync(RECEIVED_FILE, received.join(''))
  if (LEDGER === undefined) return
  const { user, system } = process.cpuUsage(cpuBefore)
  appendFileSync(LEDGER, `${testPath}\t${(user + system) / 1_000_000}\n`)
})

afterEach(() => {
  expect(warnings.splice(0)).toEqual([])
})

afterAll(() => {
  const before: { readonly [name: string]: unknown } = globalsBefore
  const replaced = Object.entries(shared()).flatMap(([name, value]) => (value === before[name] ? [] : [name]))
  expect(replaced, 'the file left globals replaced').toEqual([])
})

// Did Node itself warn of something during a test? A timer in the past or a listener that is never taken off is our fault,
// and what it prints comes out on the standard error of whoever runs the product.

import process from 'node:process'
import { afterAll, afterEach, beforeAll, expect } from 'vitest'

const OURS = /^(Timeout|MaxListeners)/
const told: string[] = []

function take(warning: Error): void {
  if (OURS.test(warning.name)) told.push(warning.stack ?? warning.message)
}

// On and off with each file: this runs once per file, in a process that may serve many.
beforeAll(() => void process.on('warning', take))
afterAll(() => void process.off('warning', take))

afterEach(() => {
  expect(told.splice(0)).toEqual([])
})

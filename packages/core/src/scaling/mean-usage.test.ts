import { expect, test } from 'vitest'
import { meanUsage } from './mean-usage.ts'

test('the mean leaves out replicas that are not ready and those without samples', () => {
  const replicas = [
    { isReady: true, cpuMillis: 100, memoryBytes: 10 },
    { isReady: true, cpuMillis: 301, memoryBytes: 20 },
    { isReady: true },
    { isReady: false, cpuMillis: 9000, memoryBytes: 9000 },
  ]
  expect(meanUsage(replicas)).toEqual({ ready: 3, measured: 2, cpuMillis: 201, memoryBytes: 15 })
})

test('a replica of 0 millis is measured, and one without a CPU value is not', () => {
  expect(meanUsage([{ isReady: true, cpuMillis: 0, memoryBytes: 0 }])).toEqual({
    ready: 1,
    measured: 1,
    cpuMillis: 0,
    memoryBytes: 0,
  })
  expect(meanUsage([{ isReady: true, memoryBytes: 5 }])).toEqual({ ready: 1, measured: 0, memoryBytes: 5 })
})

test('without samples there is no mean', () => {
  expect(meanUsage([{ isReady: true }])).toEqual({ ready: 1, measured: 0 })
  expect(meanUsage([])).toEqual({ ready: 0, measured: 0 })
})

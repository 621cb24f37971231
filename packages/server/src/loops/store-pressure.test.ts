import { expect, test } from 'vitest'
import type { EngineStatus } from '../ports/key-value.ts'
import { createStorePressure } from './store-pressure.ts'

const member = (dbSizeBytes: number, dbSizeInUseBytes = dbSizeBytes): EngineStatus => ({
  endpoint: '',
  revision: 1,
  dbSizeBytes,
  dbSizeInUseBytes,
  leader: false,
  alarms: [],
})

test('uses the fullest member for store pressure and keeps the last value while no member answers', async () => {
  let answers: EngineStatus[] = [member(30), member(90)]
  const pressure = createStorePressure({ status: async () => answers }, 100)
  expect(pressure.ratio).toBe(0)
  await pressure.measure()
  expect(pressure.ratio).toBe(0.9)
  answers = []
  await pressure.measure()
  expect(pressure.ratio).toBe(0.9)
  answers = [member(20)]
  await pressure.measure()
  expect(pressure.ratio).toBe(0.2)
})

test('measures the file of a member, because etcd raises NOSPACE on its size, and keeps the bytes in use beside it', async () => {
  const pressure = createStorePressure({ status: async () => [member(40, 39), member(95, 10)] }, 100)
  expect(pressure.size).toBeUndefined()
  await pressure.measure()
  expect(pressure.ratio).toBe(0.95)
  expect(pressure.size).toEqual({ fileBytes: 95, inUseBytes: 10 })
})

test('reports a store alarm when it is raised and when it is cleared, and not in between', async () => {
  const reported: (readonly string[])[] = []
  let alarms: string[] = []
  const status = async () => [member(1), { ...member(1), alarms }]
  const pressure = createStorePressure({ status }, 100, (raised) => reported.push(raised))
  await pressure.measure()
  alarms = ['NOSPACE', 'CORRUPT', 'NOSPACE']
  await pressure.measure()
  await pressure.measure()
  alarms = []
  await pressure.measure()
  expect(reported).toEqual([['CORRUPT', 'NOSPACE'], []])
})

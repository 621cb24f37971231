// OOM kills in the records of the kernel's log.

import { expect, test } from 'vitest'
import { createOomKills } from './oom-kills.ts'

const id = (number: number): string => number.toString(16).padStart(64, '0')
const kill = (container: string): string =>
  `6,1,2,-;oom-kill:constraint=CONSTRAINT_MEMCG,task_memcg=/docker/${container},task=dd`
const failure = (code: string): Error => Object.assign(new Error(code), { code })

function kernelLog(...records: (string | Error)[]) {
  const read = (into: Buffer): number => {
    const next = records.shift() ?? failure('EAGAIN')
    if (next instanceof Error) throw next
    return into.write(next)
  }
  return { records, kills: createOomKills(read) }
}

test('reports a kill once, and none from before the agent started', () => {
  const { records, kills } = kernelLog(kill(id(1)))
  expect(kills.take(id(1))).toBe(false)
  records.push('6,3,4,-;other', kill(id(1)), kill(id(2)))
  expect([kills.take(id(1)), kills.take(id(1)), kills.take(id(2))]).toEqual([true, false, true])
})

test('continues after records that the kernel has overwritten', () => {
  const { records, kills } = kernelLog()
  records.push(failure('EPIPE'), kill(id(1)))
  expect(kills.take(id(1))).toBe(true)
})

test('forgets the oldest of many kills that no exit explains', () => {
  const { records, kills } = kernelLog()
  for (let number = 0; number <= 256; number += 1) records.push(kill(id(number)))
  expect([kills.take(id(0)), kills.take(id(1)), kills.take(id(256))]).toEqual([false, true, true])
})

test('reads a bounded number of records at once', () => {
  let reads = 0
  const read = (into: Buffer): number => {
    reads += 1
    return into.write('6,1,2,-;more')
  }
  expect(createOomKills(read).take(id(1))).toBe(false)
  expect(reads).toBe(100_000)
})

import { beforeEach, describe, expect, test } from 'vitest'
import type { EngineStatus } from '../../ports/key-value.ts'
import { createStorePressure } from '../store-pressure.ts'
import { createUpkeep, type UpkeepDeps } from './keep-store.ts'

const MIB = 1024 ** 2
const QUOTA = 128 * MIB

/** Acts and log lines, in order. */
let story: string[]
let members: { endpoint: string; fileBytes: number; inUseBytes: number; alarms: string[] }[]
let hasReserve: boolean
let keeper: boolean
let hung: string | undefined

beforeEach(() => {
  story = []
  members = ['a', 'b', 'c'].map((endpoint) => ({ endpoint, fileBytes: 80, inUseBytes: 80, alarms: [] }))
  hasReserve = true
  keeper = true
  hung = undefined
})

const statusOf = (member: (typeof members)[number]): EngineStatus => ({
  endpoint: member.endpoint,
  revision: 1,
  dbSizeBytes: member.fileBytes * MIB,
  dbSizeInUseBytes: member.inUseBytes * MIB,
  leader: member.endpoint === 'a',
  alarms: member.alarms,
})

const log = (_: object, message: string): void => void story.push(message.split(/[,;:]/)[0] ?? '')

function upkeep(changes: Partial<UpkeepDeps> = {}): () => Promise<void> {
  const engine: UpkeepDeps['engine'] = {
    status: async () => members.map(statusOf),
    compact: async () => void story.push('compacted'),
  }
  return createUpkeep({
    engine,
    maintenance: {
      async probe(endpoint) {
        if (endpoint === hung) throw new Error('no answer')
      },
      async defragment(endpoint) {
        story.push(`defragmented ${endpoint}`)
        for (const member of members) if (member.endpoint === endpoint) member.fileBytes = member.inUseBytes
      },
      async clearNoSpace() {
        for (const member of members) member.alarms = []
      },
      close() {},
    },
    pressure: createStorePressure(engine, QUOTA),
    reserve: {
      refill: async () => void story.push('reserve refilled'),
      async release() {
        for (const member of members) if (hasReserve) member.inUseBytes -= 4
        const had = hasReserve
        hasReserve = false
        return had
      },
    },
    endpoints: ['a', 'b', 'c'],
    rules: { freeShare: 0.4, minimumBytes: 64 * MIB, intervalMs: 1 },
    log: { info: log, warn: log, error: log },
    isKeeper: async () => keeper,
    currentRevision: () => 10_000,
    onDefragmented: (outcome) => story.push(outcome),
    ...changes,
  })
}

const acts = () => story.filter((line) => line.startsWith('defragmented'))

test('defragments the members one after another, the leader last', async () => {
  for (const member of members) member.inUseBytes = 30
  await upkeep()()
  expect(acts()).toEqual(['defragmented b', 'defragmented c', 'defragmented a'])
  expect(story.filter((line) => line === 'done')).toHaveLength(3)
})

test('a server that is not the keeper only measures', async () => {
  for (const member of members) Object.assign(member, { inUseBytes: 30, alarms: ['NOSPACE'] })
  keeper = false
  await upkeep()()
  expect(story).toEqual([])
})

test('no member is defragmented while another one does not answer, as during its own defragmentation', async () => {
  for (const member of members) member.inUseBytes = 30
  hung = 'c'
  await expect(upkeep()()).rejects.toThrow('no answer')
  expect(acts()).toEqual([])
})

test('no member is defragmented while another one is silent, which is logged once', async () => {
  for (const member of members) member.inUseBytes = 30
  members.pop()
  const run = upkeep()
  await run()
  await run()
  expect(story.filter((line) => line !== 'reserve refilled')).toEqual([
    'defragmentation of etcd is due and waits until all members are healthy',
  ])
})

test('a failure is counted and ends the run', async () => {
  for (const member of members) member.inUseBytes = 30
  const failing = upkeep({
    maintenance: {
      probe: async () => {},
      defragment: async () => {
        throw new Error('deadline')
      },
      clearNoSpace: async () => {},
      close() {},
    },
  })
  await expect(failing()).rejects.toThrow('deadline')
  expect(story).toEqual([
    'defragmentation of etcd member started',
    'failed',
    'defragmentation of etcd member failed',
  ])
})

test('turned off, nothing is defragmented', async () => {
  for (const member of members) member.inUseBytes = 30
  await upkeep({ rules: undefined })()
  expect(acts()).toEqual([])
})

describe('under NOSPACE', () => {
  const fill = (inUseBytes: number) => {
    for (const member of members) Object.assign(member, { fileBytes: 128, inUseBytes, alarms: ['NOSPACE'] })
  }

  test('compacts, defragments every member and clears the alarm', async () => {
    fill(100)
    await upkeep()()
    expect(story[0]).toBe('compacted')
    expect(acts()).toHaveLength(3)
    expect(story.at(-1)).toBe('etcd has room again')
    expect(members.flatMap(({ alarms }) => alarms)).toEqual([])
  })

  test('releases the reserve if everything is in use, and clears the alarm with what that frees', async () => {
    fill(128)
    const run = upkeep()
    await run()
    expect(story).toEqual(['compacted', 'etcd is full'])
    expect(hasReserve).toBe(false)
    await run()
    expect(acts()).toHaveLength(3)
    expect(story.at(-1)).toBe('etcd has room again')
  })

  test('keeps the reserve while a defragmentation that makes room is only a matter of seconds', async () => {
    fill(100)
    const run = upkeep({ rules: { freeShare: 0.4, minimumBytes: 0, intervalMs: 3_600_000 } })
    await run()
    expect(acts()).toHaveLength(3)
    fill(120)
    await run()
    expect(story.at(-1)).toBe('compacted')
    expect(hasReserve).toBe(true)
  })

  test('says once that only a larger quota helps', async () => {
    fill(128)
    hasReserve = false
    const run = upkeep()
    await run()
    await run()
    expect(story).toEqual(['compacted', 'etcd is full and nothing more can be released', 'compacted'])
  })
})

test('a store that is half full gets its reserve, a small and a nearly full one do not', async () => {
  const at = async (fileBytes: number) => {
    for (const member of members) Object.assign(member, { fileBytes, inUseBytes: fileBytes })
    story = []
    await upkeep()()
    return story
  }
  expect(await at(60)).toEqual([])
  expect(await at(70)).toEqual(['reserve refilled'])
  expect(await at(110)).toEqual([])
  expect(await at(118)).toEqual([])
})

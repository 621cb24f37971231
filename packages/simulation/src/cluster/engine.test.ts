// A process that dies or stands still, and the store: what was asked is done, what is answered waits or is lost.

import type { KeyValueEngine } from '@holdfast/server/ports/key-value'
import { expect, test } from 'vitest'
import { connectMemory } from '../memory/connect-memory.ts'
import { createMemoryKeyspace, type MemoryKeyspace } from '../memory/keyspace.ts'
import { createRandom } from '../time/random.ts'
import {
  installVirtualTime,
  newProcess,
  type SimulatedProcess,
  type VirtualTime,
} from '../time/virtual-time.ts'
import { engineFor } from './engine.ts'

interface Scene {
  readonly time: VirtualTime
  readonly keyspace: MemoryKeyspace
  readonly said: string[]
  connect(process: SimulatedProcess): KeyValueEngine
}

async function play(work: (scene: Scene) => void): Promise<Pick<Scene, 'said' | 'keyspace'>> {
  const time = installVirtualTime(0, createRandom(1, 'test'))
  const keyspace = createMemoryKeyspace()
  const said: string[] = []
  const connect = (process: SimulatedProcess) =>
    engineFor(time, process, connectMemory(keyspace, { delayMs: () => 10 }))
  try {
    work({ time, keyspace, said, connect })
    await time.runUntil(1_000, () => false)
  } finally {
    time.uninstall()
  }
  return { said, keyspace }
}

const put = (engine: KeyValueEngine, key: string) => {
  const write = { kind: 'put' as const, key, value: Buffer.from('x') }
  return engine.transact({ compares: [], success: [write], failure: [] })
}

test('what a process asked for before it died is done, and it hears nothing of it', async () => {
  const { said, keyspace } = await play(({ time, connect, said }) => {
    const process = newProcess('one')
    time.runAs(process, () => void put(connect(process), 'a').then(() => said.push('answered')))
    setTimeout(() => {
      process.alive = false
    }, 2)
  })
  expect(said).toEqual([])
  expect(keyspace.range({ key: 'a' }).count).toBe(1)
})

test('a process that stands still hears of it when it goes on', async () => {
  const { said } = await play(({ time, connect, said }) => {
    const process = newProcess('one')
    time.runAs(
      process,
      () => void put(connect(process), 'a').then(() => said.push(`at ${performance.now()}`)),
    )
    setTimeout(() => time.pause(process), 2)
    setTimeout(() => time.resume(process), 500)
  })
  expect(said).toEqual(['at 500'])
})

test('a watch goes on when the process dies whose write it was about to tell of', async () => {
  const { said } = await play(({ time, connect, said }) => {
    const [writer, reader] = [newProcess('writer'), newProcess('reader')]
    time.runAs(reader, () => {
      const onEvents = (events: readonly unknown[]) => said.push(`${events.length} at ${performance.now()}`)
      connect(reader).watch({ key: 'a', startRevision: 1, onEvents, onProgress() {}, onCompacted() {} })
    })
    setTimeout(() => time.runAs(writer, () => void put(connect(writer), 'a')), 50)
    setTimeout(() => {
      writer.alive = false
    }, 57)
    setTimeout(() => time.runAs(reader, () => void put(connect(reader), 'a')), 100)
  })
  expect(said).toEqual(['1 at 65', '1 at 115'])
})

test('what an answer leads to belongs to the process that asked', async () => {
  const { said } = await play(({ time, connect, said }) => {
    const process = newProcess('one')
    const goOn = async () => {
      await put(connect(process), 'a')
      setTimeout(() => said.push('never'), 100)
    }
    time.runAs(process, () => void goOn())
    setTimeout(() => {
      process.alive = false
    }, 50)
  })
  expect(said).toEqual([])
})

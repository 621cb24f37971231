// A process that dies or is paused during a request to the store: the request is applied, the answer is lost or delayed.

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
  readonly log: string[]
  connect(process: SimulatedProcess): KeyValueEngine
}

async function play(work: (scene: Scene) => void): Promise<Pick<Scene, 'log' | 'keyspace'>> {
  const time = installVirtualTime(0, createRandom(1, 'test'))
  const keyspace = createMemoryKeyspace()
  const log: string[] = []
  const connect = (process: SimulatedProcess) =>
    engineFor(time, process, connectMemory(keyspace, { delayMs: () => 10 }))
  try {
    work({ time, keyspace, log, connect })
    await time.runUntil(1_000, () => false)
  } finally {
    time.uninstall()
  }
  return { log, keyspace }
}

const put = (engine: KeyValueEngine, key: string) => {
  const write = { kind: 'put' as const, key, value: Buffer.from('x') }
  return engine.transact({ compares: [], success: [write], failure: [] })
}

test('applies the request of a process that died, and delivers no answer to it', async () => {
  const { log, keyspace } = await play(({ time, connect, log }) => {
    const process = newProcess('one')
    time.runAs(process, () => void put(connect(process), 'a').then(() => log.push('answered')))
    setTimeout(() => {
      process.alive = false
    }, 2)
  })
  expect(log).toEqual([])
  expect(keyspace.range({ key: 'a' }).count).toBe(1)
})

test('delivers an answer to a paused process when it resumes', async () => {
  const { log } = await play(({ time, connect, log }) => {
    const process = newProcess('one')
    time.runAs(process, () => void put(connect(process), 'a').then(() => log.push(`at ${performance.now()}`)))
    setTimeout(() => time.pause(process), 2)
    setTimeout(() => time.resume(process), 500)
  })
  expect(log).toEqual(['at 500'])
})

test('keeps a watch running when the process dies whose write it was about to deliver', async () => {
  const { log } = await play(({ time, connect, log }) => {
    const [writer, reader] = [newProcess('writer'), newProcess('reader')]
    time.runAs(reader, () => {
      const onEvents = (events: readonly unknown[]) => log.push(`${events.length} at ${performance.now()}`)
      connect(reader).watch({ key: 'a', startRevision: 1, onEvents, onProgress() {}, onCompacted() {} })
    })
    setTimeout(() => time.runAs(writer, () => void put(connect(writer), 'a')), 50)
    setTimeout(() => {
      writer.alive = false
    }, 57)
    setTimeout(() => time.runAs(reader, () => void put(connect(reader), 'a')), 100)
  })
  expect(log).toEqual(['1 at 65', '1 at 115'])
})

test('ends the work that follows an answer with the process that asked', async () => {
  const { log } = await play(({ time, connect, log }) => {
    const process = newProcess('one')
    const goOn = async () => {
      await put(connect(process), 'a')
      setTimeout(() => log.push('never'), 100)
    }
    time.runAs(process, () => void goOn())
    setTimeout(() => {
      process.alive = false
    }, 50)
  })
  expect(log).toEqual([])
})

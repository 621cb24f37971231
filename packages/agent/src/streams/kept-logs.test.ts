// Kept logs are bounded in lines, bytes, number and age.

import { readdirSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { makeTempFolder } from '@holdfast/testkit'
import pino from 'pino'
import { expect, test } from 'vitest'
import { desiredItem } from '../fixtures/agent.fixture.ts'
import type { LogRequest, LogSink } from '../ports/engine.ts'
import { createKeptLogs } from './kept-logs.ts'

const TIME = '2026-01-01T00:00:00.000000000Z'
const HOUR_MS = 60 * 60_000

/** Kept logs of an engine that has these lines for every container. */
function keptLogs(lines: readonly string[]) {
  const { path: folder } = makeTempFolder('kept-logs')
  let nowMs = Date.now()
  const readLogs = async (_: string, __: LogRequest, sink: LogSink) => {
    for (const line of lines) sink.entry('stdout', Buffer.from(`${line}\n`))
    sink.end(true)
    return { pause() {}, resume() {}, close() {} }
  }
  const engine = { readLogs, readEnvironment: async () => [] }
  const kept = createKeptLogs({ engine, folder, now: () => nowMs, log: pino({ enabled: false }) })
  const keep = async () => {
    const item = desiredItem('test/web')
    await kept.keep({ item, containerId: 'c' })
    return item.assignmentId
  }
  const pass = (ms: number): void => {
    nowMs += ms
  }
  return { ...kept, keep, pass, names: () => readdirSync(join(folder, 'kept-logs')), folder }
}

test('keeps the last 200 lines', async () => {
  const { keep, read } = keptLogs(Array.from({ length: 500 }, (_, index) => `${TIME} ${index}`))
  const lines = await read(await keep())
  expect(lines.map(({ line }) => line)).toEqual(
    Array.from({ length: 200 }, (_, index) => `${TIME} ${index + 300}\n`),
  )
})

test('keeps at most 64 KiB', async () => {
  const { keep, read } = keptLogs(Array.from({ length: 100 }, () => `${TIME} ${'ü'.repeat(2000)}`))
  const lines = await read(await keep())
  const bytes = lines.reduce((sum, { line }) => sum + Buffer.byteLength(line), 0)
  expect([lines.length, bytes <= 64 * 1024]).toEqual([16, true])
})

test('removes lines after an hour, unless their assignment still waits to be ready', async () => {
  const { keep, expire, names, pass } = keptLogs([`${TIME} a`])
  const [waiting, other] = [await keep(), await keep()]
  await expire(() => false)
  expect(names()).toHaveLength(2)
  pass(HOUR_MS + 1000)
  await expire((id) => id === waiting)
  expect(names()).toEqual([waiting])
  await expire(() => false)
  expect(names()).not.toContain(other)
  expect(names()).toEqual([])
})

test('keeps the logs of 256 containers, and drops the oldest ones', async () => {
  const { keep, expire, names, folder } = keptLogs([`${TIME} a`])
  const ids = await Promise.all(Array.from({ length: 260 }, () => keep()))
  for (const [index, id] of ids.entries())
    utimesSync(join(folder, 'kept-logs', id), 1_000_000 + index, Date.now() / 1000 - 1000 + index)
  await expire(() => true)
  expect(names().sort()).toEqual(ids.slice(4).sort())
})

test('reads nothing outside of its folder', async () => {
  const { read } = keptLogs([])
  expect(await read('../desired.json' as Parameters<typeof read>[0])).toEqual([])
})
